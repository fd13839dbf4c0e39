/* A tool: what a model may call.
 *
 * A tool is written once, in the modern (stateless) form; the protocol layer translates for older
 * revisions. Registering one is a single call:
 *
 *     struct tool tool = {.name = "add", .description = "...", .input_schema = ..., .start = add};
 *     tool_register_function(registry, &tool, &err);
 */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"

#include <jansson.h>
#include <stdbool.h>

struct registry;
struct tool_call;

/* Severities of log messages, in syslog's order. */
enum tool_log_level {
    TOOL_LOG_EMERGENCY,
    TOOL_LOG_ALERT,
    TOOL_LOG_CRITICAL,
    TOOL_LOG_ERROR,
    TOOL_LOG_WARNING,
    TOOL_LOG_NOTICE,
    TOOL_LOG_INFO,
    TOOL_LOG_DEBUG,
};

struct tool {
    const char *name;        /* 1 to 128 of A-Z a-z 0-9 _ . -; copied */
    const char *title;       /* for people; may be NULL; copied */
    const char *description; /* for the model; copied */
    json_t *input_schema;    /* JSON Schema 2020-12, root type object; taken */
    json_t *output_schema;   /* of the structured content; may be NULL; taken */
    json_t *annotations;     /* hints: readOnlyHint, destructiveHint, ...; may be NULL; taken */
    void *data;              /* the tool's own; borrowed */

    /* Begins CALL, whose arguments fit the input schema; what is an integer there may be a real
     * here (5.0), so read it with json_number_value. READY: call->result is filled in;
     * PENDING: tool_call_finish comes later, never from inside start. See outcome.h. */
    enum outcome (*start)(struct tool_call *call, struct error *err);

    /* The caller has lost interest in a pending call: tool_call_finish must not come any more.
     * May be NULL for a tool that never answers PENDING. */
    void (*cancel)(struct tool_call *call);
};

/* What a tool answers. A failure that the model can act on is a result with `is_error`. */
struct tool_result {
    json_t *content;    /* array of content blocks in their newest shape; owned */
    json_t *structured; /* fits the output schema; NULL for none; owned */
    bool is_error;
};

/* Who calls: one per connection, or per request where there is no connection. */
struct tool_caller {
    char *principal;    /* who may find again what was made for it; owned */
    struct list states; /* what tools keep for this caller; owned */
};

struct tool_call {
    /* Inputs, set before tool_call_start. */
    struct tool_caller *caller; /* borrowed */
    json_t *arguments;          /* borrowed; NULL counts as {} */
    bool wants_progress;        /* else `progress` need not be called */

    /* PROGRESS rises strictly; TOTAL < 0: unknown; MESSAGE may be NULL. */
    void (*progress)(struct tool_call *call, double progress, double total, const char *message);

    /* A log message for the client; DATA (taken) is any JSON. NULL: nobody listens. */
    void (*log)(struct tool_call *call, enum tool_log_level level, const char *logger,
                json_t *data);

    /* The end of a pending call. ERR is NULL, or the work could not be done at all. */
    void (*done)(struct tool_call *call, const struct error *err);

    /* Output, valid when start answered READY and in `done`. Released by tool_call_deinit. */
    struct tool_result result;

    /* The running tool's. */
    const struct tool *tool; /* borrowed */
    void *state;             /* borrowed: the tool's own for this call */

    /* Private. */
    json_t *normalised; /* owned: what `arguments` points to once the call has started */
};

/* Adds TOOL; a second one of the same name, a bad name or a schema that cannot be compiled is an
 * error. The schemas are taken in every case. */
int tool_register_function(struct registry *registry, const struct tool *tool, struct error *err);

/* Finds the tool NAME, drops explicit nulls from the arguments and checks them, then starts it.
 * FAILED with ERROR_UNKNOWN_TOOL: no such tool; ERROR_INVALID_ARGUMENTS: they do not fit, and the
 * message names every misfit; any other: the tool's own. */
enum outcome tool_call_start(struct tool_call *call, struct registry *registry, const char *name,
                             struct error *err);

/* Ends a pending CALL without an answer. */
void tool_call_cancel(struct tool_call *call);
void tool_call_deinit(struct tool_call *call);

/* For tools: ends a pending CALL whose result has been filled in. */
void tool_call_finish(struct tool_call *call);

/* For tools: ends a pending CALL that could not do its work. */
void tool_call_fail(struct tool_call *call, const struct error *err);

/* For tools: appends a text block to the content of CALL's result. */
void tool_call_add_text(struct tool_call *call, const char *text, size_t length);

/* For tools: tells the client of CALL something, if it listens at LEVEL. LOGGER names the part that
 * speaks, NULL the tool; DATA (taken) is any JSON, a string as a rule. */
void tool_call_log(struct tool_call *call, enum tool_log_level level, const char *logger,
                   json_t *data);

void tool_caller_init(struct tool_caller *caller, const char *principal);
void tool_caller_deinit(struct tool_caller *caller);

/* For tools: what TOOL keeps for CALLER, or NULL. */
void *tool_caller_get(const struct tool_caller *caller, const struct tool *tool);

/* For tools: keeps STATE (taken) for CALLER, which must not have one of TOOL's yet; RELEASE is
 * called when the caller goes away. */
void tool_caller_keep(struct tool_caller *caller, const struct tool *tool, void *state,
                      void (*release)(void *state));
