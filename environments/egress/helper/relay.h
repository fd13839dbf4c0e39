/* Passes bytes between two sockets that do not block. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* False when LENGTH bytes could not be sent until DEADLINE (CLOCK_MONOTONIC seconds). */
bool relay_send(int fd, const char *bytes, size_t length, double deadline);

/* Passes bytes from NEAR to FAR and from FAR to NEAR, at first the LENGTH bytes of FIRST to FAR,
 * until both have ended, one fails, or nothing has moved for minutes. While a side does not read,
 * the other side is not read either. */
void relay_run(int near, int far, const char *first, size_t length);

/* The same from FAR to NEAR only. */
void relay_answer(int near, int far);
