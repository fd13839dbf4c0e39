/* Ends the server when its loop does not turn any more: then it answers nobody, and not even
 * SIGTERM. */
#pragma once

#include <ev.h>

enum { WATCHDOG_STATUS = 70 }; /* EX_SOFTWARE */

struct watchdog {
    ev_prepare turn;
};

/* From now on the process ends with WATCHDOG_STATUS, and prints its stack on stderr, when LOOP
 * needs more than SECONDS of processor time for a turn. Time on the clock says nothing: a machine
 * may be busy, or have slept. There can be one at a time. */
void watchdog_start(struct watchdog *watchdog, struct ev_loop *loop, int seconds);

/* Harmless for a watchdog that is zero and was not started. */
void watchdog_stop(struct watchdog *watchdog, struct ev_loop *loop);
