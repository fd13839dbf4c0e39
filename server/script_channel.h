/* The channels by which scripts call tools of the operator.
 *
 * A channel is a socket. The script's end is inherited by its Python, where the module `tools`
 * (base/starter/tools.py) is a client of MCP. Our end is served as every connection is, by a server
 * with the tools of this script alone. So a script can do with its end what it could do
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

#include "server/script_calls.h"
#include "server/tool_catalog.h"

#include <ev.h>

struct environment;
struct principal;
struct toolbox;

enum {
    SCRIPT_MESSAGES = 20 * SCRIPT_CALLS, /* of one turn: lines of all kinds */
    SCRIPT_SENT_BYTES =
        SCRIPT_RESULTS_BYTES, /* all lines together: to read them takes time of ours */
    SCRIPT_LINE_BYTES = SCRIPT_RESULT_BYTES, /* of a request */
};

struct script_channels {
    struct ev_loop *loop;    /* borrowed */
    struct toolbox *toolbox; /* borrowed */
    struct tool_catalog catalog;
    unsigned opened; /* so far; numbers them in the log */
};

/* A channel for a script in ENVIRONMENT (borrowed; outlives it), of the client PRINCIPAL. DATA
 * are the channels. NULL: it may call no tool, or no socket comes to it
 * (environment_lacks_tools). */
struct script_tools *script_channel_open(void *data, const struct environment *environment,
                                         const struct principal *principal);

/* The known tools of such a script; see tool_catalog_find. DATA are the channels. */
json_t *script_channels_know(void *data, const struct environment *environment,
                             const struct principal *principal);
