/* One script that is being executed in an environment: what a run sees of it, whatever the kind.
 *
 * environment_start() makes one, `ended` of its listener is the last that is heard of it: then its
 * processes are gone, and so is the execution. It cannot be cancelled, only killed, because its end
 * must be waited for. */
#pragma once

#include "environments/process/process.h"

#include <stdbool.h>
#include <stddef.h>

/* What to execute. Everything is borrowed until environment_start returns; paths are absolute and
 * of this machine. */
struct execution_request {
    const char *directory;        /* the current directory of the script */
    const char *script;           /* in it */
    const char *overlay;          /* a file to be laid over it, for this execution only; or NULL */
    const char *const *variables; /* NULL-terminated NAME=VALUE, for this execution only; or NULL */
    double timeout; /* seconds after which the caller is going to kill it: whatever could
                     * outlive the server ends by itself a little later */
};

/* Who hears of it; embedded in the run, and outlives the execution. */
struct execution_listener {
    /* The time of the script begins; only of an execution that `is_starting`. */
    void (*began)(struct execution_listener *listener);
    void (*output)(struct execution_listener *listener, enum process_stream stream,
                   const char *data, size_t length);
    void (*ended)(struct execution_listener *listener, const struct process_end *end);
};

/* Embedded in what each kind of environment makes. */
struct execution {
    struct execution_listener *listener;       /* borrowed */
    void (*kill)(struct execution *execution); /* everything, now; harmless when called twice */
    bool is_starting; /* something must start first, such as a container, and has its own limit */
};
