/* Copies of a program: processes that it has forked, and that go on as trees of their own for the
 * server, each with a control channel and cgroups of its own.
 *
 * A copy is a child of the supervisor, as the program is, and in the same namespaces: it ends with
 * the program at the latest. Whatever it starts is in its cgroups, by which the server kills it.
 * The program may lie about which process is its copy. The kernel says who sends, and only a child
 * is believed that nobody but the supervisor reaps, and that is neither the program nor another
 * copy: it can harm no other tree. What it has started before it was in its cgroups follows it
 * there. */
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
    int control;               /* owned; 0: this one is free */
    int gate;                  /* owned, until it goes on; or -1 */
    int cgroups[COPY_CGROUPS]; /* owned, likewise */
    pid_t pid;                 /* 0: not known, or it has ended */
};

struct copies {
    struct copy list[COPIES_MOST];
};

/* The program is told to make one. DESCRIPTORS (taken): those of a CONTROL_COPY. */
void copies_begin(struct copies *copies, const int descriptors[CONTROL_DESCRIPTORS]);

/* Writes what is to be watched for them, COPIES_WATCHED at most, to RET; returns how many. */
size_t copies_watch(const struct copies *copies, struct pollfd *ret);

/* Looks at those that WATCHED, COUNT of copies_watch, has news of. PROGRAM is what they are copies
 * of. */
void copies_look(struct copies *copies, const struct pollfd *watched, size_t count, pid_t program);

/* The child PID has ended, with STATUS as wait(2) has it, and was reaped: it may have been one. */
void copies_note_end(struct copies *copies, pid_t pid, int status, const struct rusage *usage);

/* Sends signal NUMBER to each of them. */
void copies_signal(const struct copies *copies, int number);
