/* A source of tools for scripts: the ways to list and to call them. Everything is of one thread and
 * one loop. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>
#include <stdbool.h>

struct environment;
struct ev_loop;
struct tool_source;

/* The script that asks: it runs in ENVIRONMENT, for the client called PRINCIPAL. Both are borrowed,
 * and outlive the listing or the call. */
struct tool_asker {
    const struct environment *environment;
    const char *principal;
};

/* Why a call has no result. */
enum tool_failure {
    TOOL_DENIED,      /* it is not allowed, or a person has said no */
    TOOL_TIMED_OUT,   /* no answer in time */
    TOOL_UNAVAILABLE, /* its server cannot be reached, or makes no sense */
    TOOL_LIMITED,     /* there were too many calls, or too much was returned */
    TOOL_FAILURES,
};

/* A list of the tools that an asker may call; embedded. */
struct tool_listing {
    struct tool_asker asker;

    /* TOOLS (taken) is an array of {server, name, description, inputSchema, outputSchema,
     * annotations}, as MCP has them; the last three may be missing. Tools that cannot be listed now
     * are left out. Comes once, never from inside `list`, and never after `cancel_list`. */
    void (*done)(struct tool_listing *listing, json_t *tools);
    void *work; /* of the source */
};

/* A call of a tool; embedded. */
struct source_call {
    /* Inputs, borrowed until the call is over. */
    struct tool_asker asker;
    const char *server;
    const char *tool;
    json_t *arguments; /* an object that fits the input schema */

    /* How far it is; MESSAGE may be NULL, TOTAL < 0: not known. May be NULL. */
    void (*progress)(struct source_call *call, double progress, double total, const char *message);

    /* The end: RESULT (taken) is a CallToolResult of MCP, also of a tool that has failed; or it is
     * NULL, and FAILURE and ERR say why there is none. Values of secrets are not in it. Comes once,
     * never from inside `call`, and never after `cancel_call`. */
    void (*done)(struct source_call *call, json_t *result, enum tool_failure failure,
                 const struct error *err);
    void *work; /* of the source */
};

struct tool_source_ops {
    /* True when ASKER may call any tool at all: else its script gets nothing. Must be quick. */
    bool (*has_any)(struct tool_source *source, const struct tool_asker *asker);

    /* READY with *RET (new reference), or PENDING. */
    enum outcome (*list)(struct tool_source *source, struct tool_listing *listing, json_t **ret);
    void (*cancel_list)(struct tool_source *source, struct tool_listing *listing);

    /* READY with *RET (new reference), PENDING, or FAILED with *RET_FAILURE and ERR. The source
     * looks again whether the asker may call the tool: it may have changed since it was listed. */
    enum outcome (*call)(struct tool_source *source, struct source_call *call, json_t **ret,
                         enum tool_failure *ret_failure, struct error *err);
    void (*cancel_call)(struct tool_source *source, struct source_call *call);
};

/* Embedded in the object that has the tools. */
struct tool_source {
    const struct tool_source_ops *ops;
};

/* The source of the operator's tools, in LOOP (borrowed). NULL: there are none. */
struct tool_source *tool_source_open(struct ev_loop *loop);

/* Nothing is asked any more. Harmless for NULL. */
void tool_source_close(struct tool_source *source);
