/* A worker: a copy of the zygote that runs one script, in a tree of its own.
 *
 *     zygote --clone(PARENT, namespaces)--> supervisor --fork--> worker
 *
 * The supervisor, pid 1 of the tree, is a copy of the zygote, too, but runs no Python: it builds
 * the layers that the tree does not have from the zygote, forks, and goes on as the supervisor of
 * any tree (runner/supervisor.c). */
#pragma once

#include "environments/process/control.h"

#include <stddef.h>
#include <stdint.h>

/* The same for all workers of a zygote. */
struct worker_job {
    uint32_t layers;
    char *payload; /* LENGTH bytes of the CONTROL_RUN */
    size_t length;
    const int
        *kept; /* descriptors of the zygote that are not ours, and STARTER_GATE: COUNT, rising */
    size_t count;
    void (*prepare)(void);    /* in the worker, before it waits for its code */
    void (*begin)(int tools); /* in the worker, when its code is there, with the socket to TOOLS or
                                 -1; does not return */
};

/* In the zygote: makes a supervisor, and a worker, with DESCRIPTORS, of enum zygote_order, COUNT of
 * them. -1 with errno set when there is no supervisor; its channel reports later failures. */
int worker_make(const struct worker_job *job, const int *descriptors, size_t count);
