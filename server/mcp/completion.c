#include "server/mcp/completion.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/tools/prompt.h"
#include "server/tools/resource.h"
#include "server/tools/uri_template.h"

#include <string.h>

enum { NAME_SHOWN_BYTES = 64 };

/* The argument to complete. Everything is borrowed. */
struct completion {
    completion_fn complete; /* NULL: there are no completions */
    void *data;
    const char *argument;
    const char *value;
    const json_t *context; /* or NULL */
};

static bool prompt_has(const struct prompt *prompt, const char *name)
{
    for (const struct prompt_argument *argument = prompt->arguments; argument->name; argument++) {
        if (strcmp(argument->name, name) == 0)
            return true;
    }
    return false;
}

static int completion_unknown(const char *what, const char *name, struct error *err)
{
    return error_set(err, ERROR_INVALID_PARAMS, "there is no %s \"%.*s\"", what, NAME_SHOWN_BYTES,
                     name);
}

static int find_prompt(const struct registry *registry, const json_t *ref,
                       struct completion *completion, struct error *err)
{
    const struct registry_entry *entry;
    const char *name;

    if (params_name(ref, "name", &name, err) < 0)
        return error_prefix(err, "ref");
    entry = registry_find(registry, REGISTRY_PROMPTS, name);
    if (!entry)
        return completion_unknown("prompt", name, err);
    if (!prompt_has(prompt_of(entry), completion->argument))
        return completion_unknown("argument", completion->argument, err);
    completion->complete = prompt_of(entry)->complete;
    completion->data = entry->data;
    return 0;
}

static int completion_find_template(const struct registry *registry, const json_t *ref,
                                    struct completion *completion, struct error *err)
{
    const struct registry_entry *entry;
    const char *uri;

    if (params_name(ref, "uri", &uri, err) < 0)
        return error_prefix(err, "ref");
    entry = registry_find(registry, REGISTRY_TEMPLATES, uri);
    if (!entry)
        return completion_unknown("resource template", uri, err);
    if (!uri_template_has(uri, completion->argument))
        return completion_unknown("variable", completion->argument, err);
    completion->complete = resource_of(entry)->complete;
    completion->data = entry->data;
    return 0;
}

static int completion_find(const struct registry *registry, const json_t *ref,
                           struct completion *completion, struct error *err)
{
    const char *type;

    if (!json_is_object(ref))
        return error_set(err, ERROR_INVALID_PARAMS, "ref must be there and be an object");
    if (params_name(ref, "type", &type, err) < 0)
        return error_prefix(err, "ref");
    if (strcmp(type, "ref/prompt") == 0)
        return find_prompt(registry, ref, completion, err);
    if (strcmp(type, "ref/resource") == 0)
        return completion_find_template(registry, ref, completion, err);
    return error_set(err, ERROR_INVALID_PARAMS,
                     "ref: type must be \"ref/prompt\" or \"ref/resource\"");
}

static int read_argument(const json_t *params, struct completion *completion, struct error *err)
{
    const json_t *argument = json_object_get(params, "argument");

    if (!json_is_object(argument))
        return error_set(err, ERROR_INVALID_PARAMS, "argument must be there and be an object");
    if (params_name(argument, "name", &completion->argument, err) < 0 ||
        params_name(argument, "value", &completion->value, err) < 0)
        return error_prefix(err, "argument");
    return 0;
}

/* Reads the values of the other arguments, which clients send since 2025-06-18. */
static int read_context(const struct mcp_request *request, struct completion *completion,
                        struct error *err)
{
    const json_t *context = json_object_get(request->params, "context");
    json_t *arguments;

    if (!context || request->version < MCP_2025_06_18)
        return 0;
    if (!json_is_object(context))
        return error_set(err, ERROR_INVALID_PARAMS, "context must be an object");
    if (params_arguments(context, &arguments, err) < 0)
        return error_prefix(err, "context");
    completion->context = arguments;
    return 0;
}

/* The first of VALUES that there is room for. New reference. */
static json_t *completion_answer(const json_t *values)
{
    size_t total = json_array_size(values);
    json_t *some = json_array();

    for (size_t i = 0; i < total && i < COMPLETION_VALUES; i++)
        json_array_append(some, json_array_get(values, i));
    return json_pack("{s:{s:o, s:I, s:b}}", "completion", "values", some, "total",
                     (json_int_t)total, "hasMore", total > COMPLETION_VALUES);
}

enum outcome completion_complete(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct mcp_server *server = request->peer->server;
    struct completion completion = {.argument = "", .value = ""};
    AUTO_JSON json_t *values = NULL;

    if (read_argument(request->params, &completion, err) < 0 ||
        read_context(request, &completion, err) < 0 ||
        completion_find(server->registry, json_object_get(request->params, "ref"), &completion,
                        err) < 0)
        return OUTCOME_FAILED;
    if (completion.complete)
        values = completion.complete(completion.data, request->peer->caller->principal,
                                     completion.argument, completion.value, completion.context);
    *ret = result_finish(server, request->version, completion_answer(values));
    return OUTCOME_READY;
}
