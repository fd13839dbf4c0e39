/* Amounts as people write them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* "512 MiB", "1.5 GiB", "900 bytes", "1 byte": exact where the amount is a multiple of the unit,
 * else with one digit behind the point. Owned by the caller. */
char *quantity_bytes(uint64_t bytes);

/* "1 second", "30 seconds", "0.25 seconds". Owned by the caller. */
char *quantity_seconds(double seconds);

/* Reads "512MiB", "1 GB", "900"; at most INT64_MAX. False when TEXT is no such amount. */
bool quantity_read_bytes(const char *text, uint64_t *ret);
