/* Copies of a program: processes that it has forked, which the server sees as trees of their own,
 * each with a control channel and cgroups of its own.
 *
 * A copy is a child of the supervisor, as the program is, and in the same namespaces: it ends with
 * the program at the latest. Its descendants are in its cgroups, by which the server kills them.
 * The program may lie about which process is its copy. The kernel names the sender. The supervisor
 * believes only a child of its own that is neither the program nor another copy: it can harm no
 * other tree. Processes that it has started before it was in its cgroups follow it there. */
#pragma once

#include "environments/process/control.h"

#include <poll.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

enum {
    COPIES_MOST = 64,
    COPIES_WATCHED = 2 * COPIES_MOST,
    COPY_CGROUPS = CONTROL_DESCRIPTORS - CONTROL_COPY_CGROUPS,
};

/* All zero: none. */
struct copy {
    int control;               /* owned; 0: this element is free */
    int gate;                  /* owned, until it goes on; or -1 */
    int cgroups[COPY_CGROUPS]; /* owned, until it goes on */
    pid_t pid;                 /* 0: not known, or it has ended */
};

struct copies {
    struct copy list[COPIES_MOST];
};

/* Begins a copy that the program is told to make. DESCRIPTORS (taken) came with the CONTROL_COPY.
 */
void copies_begin(struct copies *copies, const int descriptors[CONTROL_DESCRIPTORS]);

/* Writes the descriptors to be watched, COPIES_WATCHED at most, to RET; returns how many. */
size_t copies_watch(const struct copies *copies, struct pollfd *ret);

/* Looks at each copy that WATCHED, COUNT descriptors from copies_watch, has news of. PROGRAM is the
 * original. */
void copies_look(struct copies *copies, const struct pollfd *watched, size_t count, pid_t program);

/* The child PID has ended, with STATUS as wait(2) has it, and was reaped: it may have been a copy.
 */
void copies_note_end(struct copies *copies, pid_t pid, int status, const struct rusage *usage);

/* Sends signal NUMBER to each copy. */
void copies_signal(const struct copies *copies, int number);
