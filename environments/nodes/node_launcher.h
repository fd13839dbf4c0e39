/* The operator's command that leads to a node, such as `srun ... pyexecd node`: a program of this
 * machine with all rights of the server, whose standard input and output are the wire, and whose
 * standard error is for people.
 *
 * It is the leader of a session of its own. The kernel ends it with the server. */
#pragma once

#include "base/error.h"
#include "environments/process/last_lines.h"
#include "environments/process/spawn.h"

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

enum { NODE_LAUNCHER_HOW_BYTES = 80 };

struct node_launcher {
    /* Inputs. */
    struct ev_loop *loop;
    void (*ended)(struct node_launcher *launcher); /* the last thing that is called */

    char how[NODE_LAUNCHER_HOW_BYTES]; /* it has ended; then set: "ended with exit status 3" */
    struct last_lines lines;           /* of its standard error; `said` may be set before */

    /* Private. */
    pid_t pid;
    struct spawn_hold hold;
    int pidfd;  /* owned; -1: it does not run */
    int errors; /* owned; -1 */
    ev_io reaping;
    ev_io speaking;
    ev_timer patience;
    int signal;   /* that is sent next */
    bool is_rest; /* it has ended, and has children who have not */
};

/* Starts COMMAND, NULL-terminated; *RET_IN and *RET_OUT are its output and its input, which do not
 * block: the caller's. */
int node_launcher_start(struct node_launcher *launcher, const char *const *command, int *ret_in,
                        int *ret_out, struct error *err);

/* It is to end. If its input has ended and IS_URGENT is false, it may do so by itself for a while;
 * then it gets SIGTERM, and SIGKILL. Its children have a while more, and are killed. */
void node_launcher_end(struct node_launcher *launcher, bool is_urgent);

/* Kills it and its children at once. `ended` still comes, if the loop runs. */
void node_launcher_kill(const struct node_launcher *launcher);
