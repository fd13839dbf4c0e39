/* Time that only rises, for measuring. The wall clock, which ev_now() follows, can be set back. */
#pragma once

#include <sys/time.h>

/* CLOCK_MONOTONIC in seconds. */
double clock_seconds(void);

/* TIME in seconds. */
double clock_seconds_of(struct timeval time);
