#include "server/tools/tool.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/misfits.h"
#include "base/schema.h"
#include "server/tools/registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN_BYTES = 64 };

/* Arguments */

static bool is_required(const json_t *schema, const char *key)
{
    const json_t *name;
    size_t i;

    json_array_foreach (json_object_get(schema, "required"), i, name) {
        if (strcmp(json_string_value(name), key) == 0)
            return true;
    }
    return false;
}

static bool is_optional(const json_t *schema, const char *key)
{
    return json_object_get(json_object_get(schema, "properties"), key) && !is_required(schema, key);
}

/* The arguments without the nulls that stand for "absent", also those inside of objects; these are
 * no deeper than the schema. New reference. */
static json_t *drop_nulls(json_t *arguments, const json_t *schema)
{
    json_t *normalised = json_copy(arguments);
    const char *key;
    json_t *value;

    json_object_foreach (arguments, key, value) {
        const json_t *part = json_object_get(json_object_get(schema, "properties"), key);

        if (json_is_null(value) && is_optional(schema, key))
            json_object_del(normalised, key);
        else if (json_is_object(value) && json_object_get(part, "properties"))
            json_object_set_new(normalised, key, drop_nulls(value, part));
    }
    return normalised;
}

static void normalise(struct tool_call *call)
{
    call->normalised =
        call->arguments ? drop_nulls(call->arguments, call->tool->input_schema) : json_object();
    call->arguments = call->normalised;
}

static int check_arguments(const struct tool_call *call, struct error *err)
{
    struct misfits misfits = {.whole = "the call", .prefix = ""};

    schema_validate(registry_input_schema(call->tool), call->arguments, misfits_on_problem,
                    &misfits);
    return misfits_tell(&misfits, "arguments do not fit", err);
}

/* Calls */

enum outcome tool_call_start(struct tool_call *call, struct registry *registry, const char *name,
                             struct error *err)
{
    call->tool = registry_find(registry, name);
    if (!call->tool)
        return error_set(err, ERROR_UNKNOWN_TOOL, "%.*s", NAME_SHOWN_BYTES, name);
    normalise(call);
    if (check_arguments(call, err) < 0)
        return OUTCOME_FAILED;
    return call->tool->start(call, err);
}

void tool_call_cancel(struct tool_call *call)
{
    assert(call->tool->cancel);
    call->tool->cancel(call);
}

void tool_call_deinit(struct tool_call *call)
{
    json_decref(call->normalised);
    json_decref(call->result.structured);
    json_decref(call->result.content);
    *call = (struct tool_call){0};
}

void tool_call_finish(struct tool_call *call)
{
    call->done(call, NULL);
}

void tool_call_fail(struct tool_call *call, const struct error *err)
{
    call->done(call, err);
}

void tool_call_add_text(struct tool_call *call, const char *text, size_t length)
{
    if (!call->result.content)
        call->result.content = json_array();
    json_array_append_new(call->result.content, json_pack("{s:s, s:o}", "type", "text", "text",
                                                          json_string_repaired(text, length)));
}

void tool_call_log(struct tool_call *call, enum tool_log_level level, const char *logger,
                   json_t *data)
{
    if (call->log)
        call->log(call, level, logger ? logger : call->tool->name, data);
    else
        json_decref(data);
}

/* Callers */

/* What one tool keeps for one caller. */
struct caller_state {
    struct list link;
    const struct tool *tool; /* borrowed */
    void *state;             /* owned, in the way that RELEASE knows */
    void (*release)(void *state);
};

void tool_caller_init(struct tool_caller *caller, const char *principal)
{
    caller->principal = memory_copy_string(principal);
    list_init(&caller->states);
}

void tool_caller_deinit(struct tool_caller *caller)
{
    LIST_FOR_EACH_SAFE (&caller->states, link) {
        struct caller_state *kept = CONTAINER_OF(link, struct caller_state, link);

        list_remove(link);
        kept->release(kept->state);
        free(kept);
    }
    free(caller->principal);
    caller->principal = NULL;
}

void *tool_caller_get(const struct tool_caller *caller, const struct tool *tool)
{
    LIST_FOR_EACH (&caller->states, link) {
        const struct caller_state *kept = CONTAINER_OF(link, struct caller_state, link);

        if (kept->tool == tool)
            return kept->state;
    }
    return NULL;
}

void tool_caller_keep(struct tool_caller *caller, const struct tool *tool, void *state,
                      void (*release)(void *state))
{
    struct caller_state *kept = NEW(struct caller_state);

    assert(!tool_caller_get(caller, tool));
    *kept = (struct caller_state){.tool = tool, .state = state, .release = release};
    list_append(&caller->states, &kept->link);
}
