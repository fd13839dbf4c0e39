/* A tool: a function that a model may call.
 *
 * Registering one is a single call:
 *
 *     struct tool tool = {.name = "add", .description = "...", .input_schema = ..., .start = add};
 *     tool_register_function(registry, &tool, &err);
 *
 * ADD gets a struct invocation. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/invocation.h"
#include "server/tools/registry.h"

#include <jansson.h>
#include <stdbool.h>

struct principal;
struct schema;

/* The view that a principal has of a tool. */
struct tool_view {
    char *description;    /* owned */
    json_t *input_schema; /* owned */
};

/* Whether a call may become a task, which goes on without its request and whose state is polled. */
enum tool_task_support {
    TOOL_TASK_FORBIDDEN,
    TOOL_TASK_OPTIONAL,
    TOOL_TASK_REQUIRED,
};

struct tool {
    const char *name;        /* 1 to 128 of A-Z a-z 0-9 _ . -; copied */
    const char *title;       /* for people; may be NULL; copied */
    const char *description; /* for the model; copied */
    json_t *input_schema;    /* JSON Schema 2020-12, root type object; taken. Properties may have
                                `x-mcp-header`; see tool_headers.h */
    json_t *output_schema;   /* of the structured content; may be NULL; taken */
    json_t *annotations;     /* hints: readOnlyHint, destructiveHint, ...; may be NULL; taken */
    json_t *icons;           /* array of {src, mimeType, sizes}; may be NULL; taken */
    void *data;              /* the tool's own: invocation->data; borrowed */

    bool is_foreign; /* its schemas are those of another server, which checks arguments itself: one
                        of an older draft, or that cannot be compiled, is no error */

    enum result_form form; /* of its results, unless the client asks for another. Unsaid: it has one
                              form, structured if it has an output schema */
    enum tool_task_support task_support;
    double task_after; /* seconds after which a call becomes a task where the server decides
                          (2026-07-28) */

    /* The view that PRINCIPAL has of the tool, if it differs from the view of everybody; RET is
     * filled in unless it is NULL. False: the view of everybody. May be NULL. */
    bool (*view)(const struct tool *tool, const struct principal *principal, struct tool_view *ret);

    /* A call has come: its arguments are checked next. False: they are not, because the tool is
     * going to refuse it, whatever they are. May be NULL. */
    bool (*count)(const struct tool *tool);

    /* Begins INVOCATION, whose arguments fit the input schema. An integer of the schema may be a
     * real here (5.0), so read it with json_number_value. READY: invocation->result is filled in,
     * or it asks the client and is started again with the answers. PENDING: the tool calls
     * invocation_finish or invocation_fail later, never from inside start. See outcome.h. */
    enum outcome (*start)(struct invocation *invocation, struct error *err);

    /* A pending INVOCATION is cancelled: the tool must not end it any more. May be NULL for a tool
     * that never answers PENDING. */
    void (*cancel)(struct invocation *invocation);
};

/* Adds TOOL. A name that is registered already, a bad name and a schema that cannot be compiled are
 * errors. The JSON is taken in every case. */
int tool_register_function(struct registry *registry, const struct tool *tool, struct error *err);

/* Replaces the tool that has the name of TOOL. Its invocations go on. */
int tool_replace(struct registry *registry, const struct tool *tool, struct error *err);

/* Adds TOOL, or replaces the tool that has its name if a client would see a difference; only then
 * are watchers of the registry told. The JSON is taken in every case. */
int tool_offer(struct registry *registry, const struct tool *tool, struct error *err);

/* True when results of TOOL are structured for a client that asks for FORM. */
bool tool_is_structured(const struct tool *tool, enum result_form form);

/* The tool of ENTRY, which is of REGISTRY_TOOLS. Borrowed. */
const struct tool *tool_of(const struct registry_entry *entry);

/* The compiled input schema of the tool ENTRY. Borrowed. */
const struct schema *tool_input_schema(const struct registry_entry *entry);

/* The arguments of the tool ENTRY that are repeated in header fields; see tool_headers.h. Borrowed,
 * or NULL. */
const json_t *tool_headers(const struct registry_entry *entry);

/* Makes INVOCATION an invocation of the tool NAME: drops explicit nulls from its arguments and
 * checks them. -1 with ERROR_UNKNOWN_TOOL: there is no such tool; with ERROR_INVALID_ARGUMENTS: the
 * arguments do not fit, and the message names every misfit. invocation_start comes next. */
int tool_prepare(struct invocation *invocation, const struct registry *registry, const char *name,
                 struct error *err);
