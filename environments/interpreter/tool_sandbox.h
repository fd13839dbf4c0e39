/* The sandbox of one program that a preparation runs: a question to a Python, or an installer. It
 * is held where the scripts of its environment are, and gets what it needs instead of what they
 * get.
 *
 * What it needs is found without running it. A program that could be run to say so would not be
 * held. */
#pragma once

#include "environments/process/policy.h"

#include <stdbool.h>

/* Of all programs that prepare one environment. Everything is borrowed. */
struct tool_holding {
    bool is_held;      /* false: they run as the server's user, as its scripts do */
    bool required;     /* one that cannot have every layer is refused */
    const char *state; /* the state directory, or NULL */
    unsigned *absent;  /* gets the layers that one of them was to have and had not; or NULL */

    /* For installers: what the operator opens to scripts. */
    const char *const *opens; /* what they can read; or NULL */
    char *const *hosts;       /* what they reach (sandbox_settings.h); or NULL */
    bool network;             /* they have the machine's */
    const char *proxy;        /* pyexecd-proxy (egress/egress.h) */
};

struct tool_sandbox {
    const struct tool_holding *holding; /* borrowed */
    struct process_sandbox sandbox;
    char **read;  /* owned, as are the strings */
    char **write; /* likewise */
};

/* Shows nothing yet. */
void tool_sandbox_init(struct tool_sandbox *tool, const struct tool_holding *holding);
void tool_sandbox_deinit(struct tool_sandbox *tool);

/* Shows a Python, or another program. Of DIRECTORIES, which it says it uses, or NULL, as much as
 * python_needs.h believes. */
void tool_sandbox_show_program(struct tool_sandbox *tool, const char *program,
                               const char *const *directories);

/* Shows what may be a Python that was never asked, or a script that starts one. */
void tool_sandbox_show_candidate(struct tool_sandbox *tool, const char *program);

/* Shows PATH, which the operator has named, if it is there. */
void tool_sandbox_show(struct tool_sandbox *tool, const char *path);

/* PATH, a directory of ours or of the operator, can be changed. */
void tool_sandbox_open(struct tool_sandbox *tool, const char *path);

/* For process_command.sandbox: NULL, if it is not held. */
const struct process_sandbox *tool_sandbox_of(const struct tool_sandbox *tool);
