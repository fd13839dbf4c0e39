/* The channels by which scripts call tools of the operator.
 *
 * A channel is a socket. The script's end is inherited by its Python, where the module `tools`
 * (base/starter/tools.py) is a client of MCP. Our end is served as every connection is, by a server
 * with no other tools than those of this script. So a script can do with its end what it could do
 * by the module, and no more: it names a tool and its arguments. The client and the environment
 * that its calls count for are known before the script begins.
 *
 *     CLOSED     the script has not written anything: nothing is made for it yet
 *     LISTING    waits for the list of its tools
 *     SERVING    its messages are read and answered
 *     OVER       it has closed its end, or was cut off: it takes nothing, or says too much
 *
 * It ends with the run or session. Between two turns of a session all calls are refused. */
#pragma once

#include "environments/script_tools.h"

#include <ev.h>

struct environment;
struct tool_source;

enum {
    SCRIPT_CALLS = 100,                      /* of one turn */
    SCRIPT_CALLS_AT_ONCE = 8,                /* likewise, as the next ones */
    SCRIPT_RESULT_BYTES = 4 * 1024 * 1024,   /* of one result */
    SCRIPT_RESULTS_BYTES = 64 * 1024 * 1024, /* of all results */
    SCRIPT_MESSAGES = 20 * SCRIPT_CALLS,     /* lines of all kinds */
    SCRIPT_SENT_BYTES =
        SCRIPT_RESULTS_BYTES, /* all lines together: to read them takes time of ours */
    SCRIPT_LINE_BYTES = SCRIPT_RESULT_BYTES, /* of a request */
};

struct script_channels {
    struct ev_loop *loop;       /* borrowed */
    struct tool_source *source; /* borrowed; NULL: no script has tools */
    unsigned opened;            /* so far; numbers them in the log */
};

/* A channel for a script in ENVIRONMENT (borrowed; outlives it), of the client PRINCIPAL (copied).
 * DATA are the channels. NULL: it may call no tool, or there is no way for a socket to it: into a
 * container of Docker there is none. */
struct script_tools *script_channel_open(void *data, const struct environment *environment,
                                         const char *principal);
