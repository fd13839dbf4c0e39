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

static void compute(struct invocation *invocation)
{
    const char *label = json_object_get_string(invocation->arguments, "label");

    catalogue_answer(invocation, "Computed %s.", label ? label : "it");
    invocation_finish(invocation);
}

static enum outcome start_computing(struct invocation *invocation, struct error *err)
{
    (void)err;
    return later(invocation, json_number_value(json_object_get(invocation->arguments, "seconds")),
                 compute);
}

static void fail_job(struct invocation *invocation)
{
    catalogue_answer(invocation, "The job has failed.");
    invocation->result.is_error = true;
    invocation_finish(invocation);
}

static enum outcome start_failing(struct invocation *invocation, struct error *err)
{
    (void)err;
    return later(invocation, MOMENT_SECONDS, fail_job);
}

static void break_job(struct invocation *invocation)
{
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_INTERNAL, "the job has broken the server");
    invocation_fail(invocation, &err);
}

static enum outcome start_breaking(struct invocation *invocation, struct error *err)
{
    (void)err;
    return later(invocation, MOMENT_SECONDS, break_job);
}

static void ask_to_delete(struct invocation *invocation)
{
    invocation_ask_form(invocation, "confirm", "Really delete it?",
                        catalogue_object("{'confirm': {'type': 'boolean'}}"));
    invocation_finish(invocation);
}

static enum outcome start_deleting(struct invocation *invocation, struct error *err)
{
    const json_t *answer = json_object_get(invocation_answer(invocation, "confirm"), "content");
    const char *name = json_object_get_string(invocation->arguments, "filename");

    (void)err;
    if (!answer)
        return later(invocation, MOMENT_SECONDS, ask_to_delete);
    if (json_is_true(json_object_get(answer, "confirm")))
        catalogue_answer(invocation, "Deleted %s.", name);
    else
        catalogue_answer(invocation, "Kept %s.", name);
    return OUTCOME_READY;
}

static void ask_two_things(struct invocation *invocation)
{
    static const char *const KEYS[] = {"first", "second"};

    for (size_t i = 0; i < ARRAY_SIZE(KEYS); i++)
        invocation_ask_form(invocation, KEYS[i], "What is the name?",
                            catalogue_object("{'name': {'type': 'string'}}"));
    invocation_finish(invocation);
}

static enum outcome start_gathering(struct invocation *invocation, struct error *err)
{
    (void)err;
    if (!invocation_answer(invocation, "first") || !invocation_answer(invocation, "second"))
        return later(invocation, MOMENT_SECONDS, ask_two_things);
    catalogue_answer(invocation, "Both are answered.");
    return OUTCOME_READY;
}

static const char *user_name(const struct invocation *invocation)
{
    return json_object_get_string(
        json_object_get(invocation_answer(invocation, "user_name"), "content"), "name");
}

static void greet_at_last(struct invocation *invocation)
{
    catalogue_answer(invocation, "Hello at last, %s!", user_name(invocation));
    invocation_finish(invocation);
}

/* What it asks before its work is asked of whoever calls, not of a task. */
static enum outcome start_asking(struct invocation *invocation, struct error *err)
{
    (void)err;
    if (user_name(invocation))
        return later(invocation, MOMENT_SECONDS, greet_at_last);
    invocation_ask_form(invocation, "user_name", "What is your name?",
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
