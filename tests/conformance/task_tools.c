/* Tools whose calls may become tasks. None of them knows whether its call has: it works, asks and
 * ends as it would anyway. */
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/invocation.h"
#include "server/tools/tool.h"
#include "tests/conformance/catalogue.h"
#include "tests/conformance/later.h"

/* Long enough for a call to have become a task. */
#define MOMENT_SECONDS 0.1

static void compute(struct invocation *call)
{
    const char *label = json_object_get_string(call->arguments, "label");

    catalogue_answer(call, "Computed %s.", label ? label : "it");
    invocation_finish(call);
}

static enum outcome start_computing(struct invocation *call, struct error *err)
{
    (void)err;
    return later(call, json_number_value(json_object_get(call->arguments, "seconds")), compute);
}

static void fail_job(struct invocation *call)
{
    catalogue_answer(call, "The job has failed.");
    call->result.is_error = true;
    invocation_finish(call);
}

static enum outcome start_failing(struct invocation *call, struct error *err)
{
    (void)err;
    return later(call, MOMENT_SECONDS, fail_job);
}

static void break_job(struct invocation *call)
{
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_INTERNAL, "the job has broken the server");
    invocation_fail(call, &err);
}

static enum outcome start_breaking(struct invocation *call, struct error *err)
{
    (void)err;
    return later(call, MOMENT_SECONDS, break_job);
}

static void ask_to_delete(struct invocation *call)
{
    invocation_ask_form(call, "confirm", "Really delete it?",
                        catalogue_object("{'confirm': {'type': 'boolean'}}"));
    invocation_finish(call);
}

static enum outcome start_deleting(struct invocation *call, struct error *err)
{
    const json_t *answer = json_object_get(invocation_answer(call, "confirm"), "content");
    const char *name = json_object_get_string(call->arguments, "filename");

    (void)err;
    if (!answer)
        return later(call, MOMENT_SECONDS, ask_to_delete);
    if (json_is_true(json_object_get(answer, "confirm")))
        catalogue_answer(call, "Deleted %s.", name);
    else
        catalogue_answer(call, "Kept %s.", name);
    return OUTCOME_READY;
}

static void ask_two_things(struct invocation *call)
{
    static const char *const KEYS[] = {"first", "second"};

    for (size_t i = 0; i < ARRAY_SIZE(KEYS); i++)
        invocation_ask_form(call, KEYS[i], "What is the name?",
                            catalogue_object("{'name': {'type': 'string'}}"));
    invocation_finish(call);
}

static enum outcome start_gathering(struct invocation *call, struct error *err)
{
    (void)err;
    if (!invocation_answer(call, "first") || !invocation_answer(call, "second"))
        return later(call, MOMENT_SECONDS, ask_two_things);
    catalogue_answer(call, "Both are answered.");
    return OUTCOME_READY;
}

static const char *user_name(const struct invocation *call)
{
    return json_object_get_string(json_object_get(invocation_answer(call, "user_name"), "content"),
                                  "name");
}

static void greet_at_last(struct invocation *call)
{
    catalogue_answer(call, "Hello at last, %s!", user_name(call));
    invocation_finish(call);
}

/* What it asks before its work is asked of whoever calls, not of a task. */
static enum outcome start_asking(struct invocation *call, struct error *err)
{
    (void)err;
    if (user_name(call))
        return later(call, MOMENT_SECONDS, greet_at_last);
    invocation_ask_form(call, "user_name", "What is your name?",
                        catalogue_object("{'name': {'type': 'string'}}"));
    return OUTCOME_READY;
}

static void add(struct registry *registry, const struct tool *tool, const char *properties)
{
    struct tool added = *tool;

    added.cancel = later_cancel;
    catalogue_add_tool(registry, &added, properties);
}

void catalogue_add_task_tools(struct registry *registry)
{
    add(registry,
        &(struct tool){.name = "slow_compute",
                       .description = "Computes for a while.",
                       .task_support = TOOL_TASK_OPTIONAL,
                       .start = start_computing},
        "{'seconds': {'type': 'number', 'minimum': 0},"
        " 'label': {'type': 'string', 'default': ''}}");
    add(registry,
        &(struct tool){.name = "failing_job",
                       .description = "Fails after a while.",
                       .task_support = TOOL_TASK_REQUIRED,
                       .start = start_failing},
        NULL);
    add(registry,
        &(struct tool){.name = "protocol_error_job",
                       .description = "Breaks after a while.",
                       .task_support = TOOL_TASK_OPTIONAL,
                       .start = start_breaking},
        NULL);
    add(registry,
        &(struct tool){.name = "confirm_delete",
                       .description = "Deletes what it may.",
                       .task_support = TOOL_TASK_OPTIONAL,
                       .start = start_deleting},
        "{'filename': {'type': 'string'}}");
    add(registry,
        &(struct tool){.name = "multi_input",
                       .description = "Asks for two things.",
                       .task_support = TOOL_TASK_OPTIONAL,
                       .start = start_gathering},
        NULL);
    add(registry,
        &(struct tool){.name = "test_tool_with_task",
                       .description = "Asks first, and then works for a while.",
                       .task_support = TOOL_TASK_REQUIRED,
                       .start = start_asking},
        NULL);
}
