/* Time that only rises, for measuring. The wall clock, which ev_now() follows, can be set back. */
#pragma once

/* CLOCK_MONOTONIC in seconds. */
double clock_seconds(void);
