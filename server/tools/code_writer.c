#include "server/tools/code_writer.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "server/tools/caller.h"
#include "server/tools/environment_text.h"
#include "server/tools/prompt.h"
#include "server/tools/python_host.h"
#include "server/tools/python_offer.h"
#include "server/tools/run_python_definition.h"

#include <stdlib.h>
#include <string.h>

static const char INTRODUCTION[] =
    "You solve tasks by writing Python and running it with the tool `" RUN_PYTHON_NAME "`. Compute "
    "what can be computed; do not guess results, and do not ask the user to run code.\n"
    "\n"
    "How your code runs:\n"
    "- Each call runs one whole program in a fresh process. Variables and imports of earlier calls "
    "are gone; send everything that the program needs.\n"
    "- Only what is printed comes back. A bare expression on the last line shows nothing: use "
    "print().\n"
    "- Files stay from call to call. Write them into the current directory, by relative paths; the "
    "result names those that were created or changed, and its `working_directory` is what a later "
    "call needs to find them again.\n"
    "- There is nobody to answer input(), and no screen: save figures to files.\n"
    "- Print little, and what matters. Of very long output the middle is dropped.\n"
    "- What is not done at the timeout is killed, and what was printed until then is returned. "
    "Print "
    "on the way, and ask for a longer `timeout` where it is needed.\n"
    "- What the program has started ends with it: nothing runs on in the background.\n";

static const char CONDUCT[] =
    "\n"
    "How to proceed:\n"
    "- Go step by step: say what you are about to find out, run it, read the result.\n"
    "- After a failure read the traceback, mend the cause and send the whole program again. If the "
    "same idea fails twice, try another.\n"
    "- A module that is missing cannot be installed by the program. Use another environment that "
    "has "
    "it, or the standard library.\n"
    "- Verify the answer before you give it, with another calculation if there is one.\n";

static const char APPROVAL[] =
    "- Where a person is asked before code runs, that person reads it: keep programs short, and "
    "say "
    "in comments what they do. When one is declined, heed the reason; do not send it again.\n";

static void code_writer_append(char **text, const char *more)
{
    char *longer = memory_format("%s%s", *text, more);

    free(*text);
    *text = longer;
}

/* Appends ENVIRONMENT with its limits and what scripts can reach. */
static void append_environment(char **text, const struct environment *environment)
{
    AUTO_FREE char *line = environment_text(environment);
    AUTO_JSON json_t *reach = environment->ops->reach(environment);
    const json_t *fact;
    size_t i;

    code_writer_append(text, "- ");
    code_writer_append(text, line);
    code_writer_append(text, "\n");
    json_array_foreach (reach, i, fact) {
        code_writer_append(text, "  - ");
        code_writer_append(text, json_string_value(fact));
        code_writer_append(text, "\n");
    }
}

static void append_one(char **text, const struct environment *environment)
{
    AUTO_FREE char *heading =
        memory_format("\nWhere it runs: always pass `environment`: \"%s\".\n", environment->name);

    code_writer_append(text, heading);
    append_environment(text, environment);
}

static void append_all(char **text, const struct python_offer *offer)
{
    const struct environment *environment;
    size_t position = 0;
    AUTO_FREE char *heading = memory_format(
        "\nWhere it can run (`environment`; without it: \"%s\"):\n", offer->default_environment);

    code_writer_append(text, heading);
    while ((environment = python_offer_next(offer, &position)))
        append_environment(text, environment);
    if (offer->rules)
        code_writer_append(
            text, "- or one that the call defines (`environment_definition`), with packages that "
                  "are installed before the program runs\n");
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

/* The text for TASK in the environment CHOSEN; both may be NULL. Owned by the caller. */
static char *code_writer_write_text(const struct python_offer *offer,
                                    const struct environment *chosen, const char *task)
{
    char *text = memory_copy_string(INTRODUCTION);

    if (chosen)
        append_one(&text, chosen);
    else
        append_all(&text, offer);
    code_writer_append(&text, CONDUCT);
    if (chosen ? code_writer_asks(chosen) : any_asks(offer))
        code_writer_append(&text, APPROVAL);
    if (task && *task) {
        code_writer_append(&text, "\nThe task:\n\n");
        code_writer_append(&text, task);
        code_writer_append(&text, "\n");
    }
    return text;
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
        environment = catalog_find(offer.catalog, name);
        if (!environment)
            return error_set(err, ERROR_INVALID_PARAMS, "there is no environment \"%.64s\"", name);
    }
    text = code_writer_write_text(&offer, environment, task);
    prompt_add_text(invocation, "user", text);
    return OUTCOME_READY;
}

/* The names of environments that begin with VALUE. */
static json_t *code_writer_complete(void *data, const char *argument, const char *value,
                                    const json_t *context)
{
    const struct python_host *host = data;
    AUTO_JSON json_t *names = catalog_names(host->settings.catalog);
    json_t *found = json_array();
    json_t *name;
    size_t i;

    (void)context;
    if (strcmp(argument, "environment") != 0)
        return found;
    json_array_foreach (names, i, name)
        if (strncmp(json_string_value(name), value, strlen(value)) == 0)
            json_array_append(found, name);
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
