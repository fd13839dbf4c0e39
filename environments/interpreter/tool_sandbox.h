/* The sandbox of one program that a preparation runs: a question to a Python, or an installer. The
 * program is held if the scripts of its environment are, and gets the files that it needs instead
 * of theirs.
 *
 * These files are found without running the program, since a run to ask it would not be held. */
#pragma once

#include "environments/process/policy.h"

#include <stdbool.h>

struct script_places;

/* The conditions for all programs that prepare an environment. Everything is borrowed. */
struct tool_holding {
    bool is_held;      /* false: they run as the server's user, as its scripts do */
    bool required;     /* a program that cannot have every layer is refused */
    const char *state; /* the state directory, or NULL */
    unsigned *absent;  /* gets the layers that a program should have had and lacked; or NULL */

    /* For installers: access that the operator gives to scripts. */
    const char *const *opens; /* paths that they can read; or NULL */
    char *const *hosts;       /* that they reach (sandbox_settings.h); or NULL */
    bool network;             /* they have the machine's network */
    const char *proxy;        /* pyexecd-proxy (egress/egress.h) */

    const struct script_places *written; /* nothing there is believed; or NULL */
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

/* Shows PROGRAM, a Python or another program, and any of DIRECTORIES, which it says it uses, that
 * python_needs.h believes. DIRECTORIES may be NULL. */
void tool_sandbox_show_program(struct tool_sandbox *tool, const char *program,
                               const char *const *directories);

/* Shows PROGRAM, perhaps a Python that was never asked, or a script that starts a Python. */
void tool_sandbox_show_candidate(struct tool_sandbox *tool, const char *program);

/* Shows PATH, which the operator has named, if it is there. */
void tool_sandbox_show(struct tool_sandbox *tool, const char *path);

/* Makes PATH, a directory of ours or of the operator, writable. */
void tool_sandbox_open(struct tool_sandbox *tool, const char *path);

/* For process_command.sandbox: NULL if the program is not held. */
const struct process_sandbox *tool_sandbox_of(const struct tool_sandbox *tool);
