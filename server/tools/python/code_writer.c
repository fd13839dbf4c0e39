#include "server/tools/python/code_writer.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "server/tools/caller.h"
#include "server/tools/prompt.h"
#include "server/tools/python/environment_text.h"
#include "server/tools/python/guide.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/run_python.h"

#include <string.h>

static const char INTRODUCTION[] =
    "You solve tasks by writing Python and running it with the tool `" RUN_PYTHON_NAME "`. Compute "
    "what can be computed; do not guess results, and do not ask the user to run code.\n"
    "\n"
    "How your code runs:\n";

static const char CONDUCT[] =
    "\n"
    "How to proceed:\n"
    "- Go step by step: say what you are about to find out, run it, read the result.\n"
    "- Print little, and what matters. Where a program takes long, print on the way.\n"
    "- If the same idea fails twice, try another.\n"
    "- Verify the answer before you give it, with another calculation if there is one.\n";

static const char APPROVAL[] =
    "- Where a person is asked before code runs, that person reads it: keep programs short, and "
    "say "
    "in comments what they do. When one is declined, heed the reason; do not send it again.\n";

/* Appends what scripts can reach in ENVIRONMENT. */
static void append_reached(struct buffer *text, const struct environment *environment)
{
    AUTO_JSON json_t *reach = environment->ops->reach(environment);
    const json_t *fact;
    size_t i;

    json_array_foreach (reach, i, fact)
        buffer_print(text, "  - %s\n", json_string_value(fact));
}

static void append_environment(struct buffer *text, const struct python_offer *offer,
                               const struct environment *environment)
{
    AUTO_FREE char *line =
        environment_text(environment, catalog_find(offer->catalog, offer->default_environment));

    buffer_print(text, "- %s\n", line);
    append_reached(text, environment);
}

static void append_one(struct buffer *text, const struct python_offer *offer,
                       const struct environment *environment)
{
    buffer_print(text, "\nWhere it runs: pass `environment`: \"%s\"%s.\n", environment->name,
                 offer->rules ? ", but where it lacks a package" : "");
    append_environment(text, offer, environment);
}

static void append_all(struct buffer *text, const struct python_offer *offer)
{
    const struct environment *environment;
    size_t position = 0;

    buffer_print(text, "\nWhere it can run (`environment`; without it: \"%s\"):\n",
                 offer->default_environment);
    while ((environment = python_offer_next(offer, &position)))
        append_environment(text, offer, environment);
}

static bool code_writer_asks(const struct environment *environment)
{
    return environment->settings.approval != APPROVAL_NEVER;
}

static bool any_asks(const struct python_offer *offer)
{
    const struct environment *environment;
    size_t position = 0;

    while ((environment = python_offer_next(offer, &position)))
        if (code_writer_asks(environment))
            return true;
    return false;
}

/* The text for TASK in the environment CHOSEN; both may be NULL. */
static void code_writer_write(struct buffer *text, const struct python_offer *offer,
                              const struct environment *chosen, const char *task)
{
    buffer_print(text, "%s", INTRODUCTION);
    guide_append_rules(text, offer);
    guide_append_limits(text, offer);
    if (chosen)
        append_one(text, offer, chosen);
    else
        append_all(text, offer);
    buffer_print(text, "%s", CONDUCT);
    if (chosen ? code_writer_asks(chosen) : any_asks(offer))
        buffer_print(text, "%s", APPROVAL);
    if (task && *task)
        buffer_print(text, "\nThe task:\n\n%s\n", task);
}

/* Owned by the caller. */
static char *code_writer_write_text(const struct python_offer *offer,
                                    const struct environment *chosen, const char *task)
{
    struct buffer text;
    char *ret;

    buffer_init(&text, GUIDE_BYTES + (task ? strlen(task) : 0));
    code_writer_write(&text, offer, chosen, task);
    ret = memory_format("%.*s", (int)buffer_length(&text), buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}

static enum outcome code_writer_start(struct invocation *invocation, struct error *err)
{
    const struct python_host *host = invocation->data;
    const struct python_offer offer =
        python_offer_for(&host->settings, invocation->caller->principal);
    const char *name = json_object_get_string(invocation->arguments, "environment");
    const char *task = json_object_get_string(invocation->arguments, "task");
    const struct environment *environment = NULL;
    AUTO_FREE char *text = NULL;

    if (name && *name) {
        environment = python_offer_find(&offer, name);
        if (!environment)
            return error_set(err, ERROR_INVALID_PARAMS, "there is no environment \"%.64s\"", name);
    }
    text = code_writer_write_text(&offer, environment, task);
    prompt_add_text(invocation, "user", text);
    return OUTCOME_READY;
}

/* The names of environments that begin with VALUE. */
static json_t *code_writer_complete(void *data, const struct principal *principal,
                                    const char *argument, const char *value, const json_t *context)
{
    const struct python_host *host = data;
    const struct python_offer offer = python_offer_for(&host->settings, principal);
    const struct environment *environment;
    json_t *found = json_array();
    size_t position = 0;

    (void)context;
    if (strcmp(argument, "environment") != 0)
        return found;
    while ((environment = python_offer_next(&offer, &position)))
        if (strncmp(environment->name, value, strlen(value)) == 0)
            json_array_append_new(found, json_string(environment->name));
    return found;
}

int code_writer_register(struct registry *registry, struct python_host *host, struct error *err)
{
    const struct prompt prompt = {
        .name = CODE_WRITER_NAME,
        .title = "Code writer",
        .description =
            "How to solve a task with " RUN_PYTHON_NAME ": what comes back of a program, "
            "what stays, and what there is in the environments",
        .arguments =
            {
                {.name = "environment",
                 .title = "Environment",
                 .description = "The one to use; without it all are described"},
                {.name = "task", .title = "Task", .description = "What is to be done"},
            },
        .data = host,
        .complete = code_writer_complete,
        .start = code_writer_start,
    };

    return prompt_register(registry, &prompt, err);
}
