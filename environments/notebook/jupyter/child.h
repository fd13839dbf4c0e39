/* The process of a kernel. */
#pragma once

#include "base/error.h"
#include "environments/notebook/jupyter/spec.h"

#include <sys/types.h>

struct jupyter_child {
    pid_t pid;
    bool takes_messages; /* it is interrupted by a message */
};

/* Starts the kernel NAME of the Python at INTERPRETER, with the file CONNECTION. Its output is
 * ours, and it has no input. -1 with ERR. */
int jupyter_child_start(struct jupyter_child *child, const char *interpreter, const char *name,
                        const char *connection, struct error *err);

/* Sends SIGINT to the kernel and to the processes that it has started. */
void jupyter_child_interrupt(const struct jupyter_child *child);

/* True when it has ended; *RET_STATUS as of wait(2). */
bool jupyter_child_has_ended(const struct jupyter_child *child, int *ret_status);
