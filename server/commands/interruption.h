/* The signals that end a command. While they are watched they end the loop instead of the program,
 * so that the command can clean up. */
#pragma once

#include <ev.h>

enum { INTERRUPTION_SIGNALS = 3 };

struct interruption {
    struct ev_loop *loop; /* borrowed */
    struct ev_signal watchers[INTERRUPTION_SIGNALS];
    int signal; /* that came, or 0 */
};

void interruption_start(struct interruption *interruption, struct ev_loop *loop);

/* Stops watching: a signal ends the program again. */
void interruption_stop(struct interruption *interruption);

/* The exit status of a command that was ended by signal NUMBER, as in shells. */
int interruption_status(int number);
