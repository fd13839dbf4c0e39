/* One program that a preparation runs, such as an installer. It is contained like a script, so that
 * no process of it is left when it is stopped. Its lines are handed on for progress, and the last
 * ones are kept for the error. */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct process_host;
struct process_sandbox;
struct subprocess;

/* Everything but HOST and DATA is borrowed until subprocess_start returns. */
struct subprocess_settings {
    struct process_host *host;             /* borrowed; outlives the tool */
    const char *name;                      /* "pip"; what an error calls it */
    const char *const *arguments;          /* NULL-terminated; [0] is an absolute path */
    const char *const *variables;          /* NULL-terminated NAME=VALUE */
    const char *directory;                 /* absolute: the current directory */
    const struct process_sandbox *sandbox; /* NULL: no sandbox */
    unsigned *absent; /* borrowed until the end: gets the layers that it asked for and did not have;
                         or NULL */
    void *data;       /* borrowed: the caller's own, for the callbacks */

    /* Each line of either stream, without its end, cleaned; may be NULL. */
    void (*said)(void *data, const char *line);

    /* The end; called once, never from inside subprocess_start. OUTPUT is its stdout, up to a
     * limit. ERR is NULL when the tool succeeded, else it has the way the tool ended and its last
     * lines. The tool is freed when this returns. */
    void (*ended)(void *data, const char *output, const struct error *err);
};

/* NULL with ERR when it cannot be started. */
struct subprocess *subprocess_start(const struct subprocess_settings *settings, struct error *err);

/* Stops the tool and its descendants; `ended` still comes, since their end must be waited for. */
void subprocess_kill(struct subprocess *tool);
