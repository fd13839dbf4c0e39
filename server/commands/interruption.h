/* The signals that end a command: while it watches them, they end the loop instead of the program,
 * which so can clean up. */
#pragma once

#include <ev.h>

enum { INTERRUPTION_SIGNALS = 3 };

struct interruption {
    struct ev_loop *loop; /* borrowed */
    struct ev_signal watchers[INTERRUPTION_SIGNALS];
    int signal; /* that came, or 0 */
};

void interruption_start(struct interruption *interruption, struct ev_loop *loop);

/* From then on a signal ends the program again. */
void interruption_stop(struct interruption *interruption);

/* What a command that signal NUMBER has ended returns, as the shells do. */
int interruption_status(int number);
