#include "server/mcp/tools.h"

#include "base/json.h"
#include "base/list.h"
#include "server/mcp/logging.h"
#include "server/mcp/result.h"
#include "server/tools/registry.h"

#include <math.h>
#include <string.h>

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

#define LARGEST_EXACT_INTEGER 9007199254740991.0 /* 2^53 - 1: what every JSON reader keeps */

/* tools/list */

static bool is_object_schema(const json_t *schema)
{
    const char *type = json_object_get_string(schema, "type");

    return type && strcmp(type, "object") == 0;
}

static json_t *definition(const struct tool *tool, enum mcp_version version)
{
    static const struct result_member MEMBERS[] = {
        {"annotations", MCP_2025_03_26},
        {"title", MCP_2025_06_18},
        {"outputSchema", MCP_2025_06_18},
    };
    json_t *object =
        json_pack("{s:s, s:s*, s:s, s:O, s:O*, s:O*}", "name", tool->name, "title", tool->title,
                  "description", tool->description, "inputSchema", tool->input_schema,
                  "outputSchema", tool->output_schema, "annotations", tool->annotations);

    result_drop_newer(object, MEMBERS, COUNT(MEMBERS), version);
    if (!mcp_version_is_modern(version) && !is_object_schema(tool->output_schema))
        json_object_del(object, "outputSchema");
    return object;
}

/* All tools are on one page, so no cursor was ever given out. */
static int check_cursor(const json_t *cursor, struct error *err)
{
    if (!cursor)
        return 0;
    if (!json_is_string(cursor))
        return error_set(err, ERROR_INVALID_PARAMS, "cursor must be a string");
    return error_set(err, ERROR_INVALID_PARAMS, "unknown cursor");
}

enum outcome tools_list(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct registry *registry = request->peer->server->registry;
    json_t *list;

    if (check_cursor(json_object_get(request->params, "cursor"), err) < 0)
        return OUTCOME_FAILED;
    list = json_array();
    for (size_t i = 0; i < registry_count(registry); i++)
        json_array_append_new(list, definition(registry_at(registry, i), request->version));
    *ret = result_finish_cacheable(request, json_pack("{s:o}", "tools", list));
    return OUTCOME_READY;
}

/* tools/call: what goes back */

static struct mcp_request *request_of(struct tool_call *call)
{
    return CONTAINER_OF(call, struct mcp_request, tool_call);
}

static json_t *success(const struct mcp_request *request)
{
    static const struct result_member MEMBERS[] = {{"structuredContent", MCP_2025_06_18}};
    const struct tool_result *answer = &request->tool_call.result;
    json_t *result =
        json_pack("{s:o, s:O*, s:b}", "content", result_content(answer->content, request->version),
                  "structuredContent", answer->structured, "isError", answer->is_error);

    result_drop_newer(result, MEMBERS, COUNT(MEMBERS), request->version);
    if (!mcp_version_is_modern(request->version) && !json_is_object(answer->structured))
        json_object_del(result, "structuredContent");
    return result_finish(request, result);
}

static json_t *failure(const struct mcp_request *request, const struct error *err)
{
    json_t *text = json_string_repaired(err->message, strlen(err->message));

    return result_finish(request, json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text",
                                            "text", text, "isError", true));
}

/* Up to 2025-06-18 arguments that do not fit are a fault of the protocol; later revisions let the
 * model see them and mend its call. */
static bool is_protocol_error(const struct mcp_request *request, const struct error *err)
{
    return error_is_protocol(err) ||
           (err->code == ERROR_INVALID_ARGUMENTS && request->version <= MCP_2025_06_18);
}

static void on_done(struct tool_call *call, const struct error *err)
{
    struct mcp_request *request = request_of(call);

    if (!err)
        request->done(request, success(request), NULL);
    else if (is_protocol_error(request, err))
        request->done(request, NULL, err);
    else
        request->done(request, failure(request, err), NULL);
}

/* tools/call: what is told on the way */

static json_t *number(double value)
{
    if (trunc(value) == value && fabs(value) <= LARGEST_EXACT_INTEGER)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *progress_params(const struct mcp_request *request, double total, const char *message)
{
    json_t *params = json_pack("{s:O, s:o}", "progressToken", request->progress_token, "progress",
                               number(request->progress));

    if (isfinite(total) && total >= 0)
        json_object_set_new(params, "total", number(total));
    if (message && request->version >= MCP_2025_03_26)
        json_object_set_new(params, "message", json_string_repaired(message, strlen(message)));
    return params;
}

static void on_progress(struct tool_call *call, double progress, double total, const char *message)
{
    struct mcp_request *request = request_of(call);

    if (!request->progress_token || request->peer->slow)
        return;
    if (!isfinite(progress) || progress <= request->progress)
        return;
    request->progress = progress;
    request->notify(request, "notifications/progress", progress_params(request, total, message));
}

static void on_log(struct tool_call *call, enum tool_log_level level, const char *logger,
                   json_t *data)
{
    logging_send(request_of(call), level, logger, data);
}

/* tools/call: the call */

/* The tool's name and the arguments in PARAMS. A name with a NUL in it is shown up to there. */
static int read_params(const json_t *params, const char **ret_name, json_t **ret_arguments,
                       struct error *err)
{
    const json_t *name = json_object_get(params, "name");
    json_t *arguments = json_object_get(params, "arguments");

    if (!json_is_string(name))
        return error_set(err, ERROR_INVALID_PARAMS, "name must be there and be a string");
    if (arguments && !json_is_object(arguments))
        return error_set(err, ERROR_INVALID_PARAMS, "arguments must be an object, not %s",
                         json_type_name(arguments));
    if (strlen(json_string_value(name)) != json_string_length(name))
        return error_set(err, ERROR_UNKNOWN_TOOL, "%.64s", json_string_value(name));
    *ret_name = json_string_value(name);
    *ret_arguments = arguments;
    return 0;
}

static enum outcome start(struct mcp_request *request, const char *name, json_t **ret,
                          struct error *err)
{
    struct registry *registry = request->peer->server->registry;
    struct error failed = ERROR_INIT;
    enum outcome outcome = tool_call_start(&request->tool_call, registry, name, &failed);

    if (outcome == OUTCOME_PENDING)
        return OUTCOME_PENDING;
    if (outcome == OUTCOME_FAILED && is_protocol_error(request, &failed)) {
        *err = failed;
        return OUTCOME_FAILED;
    }
    *ret = outcome == OUTCOME_READY ? success(request) : failure(request, &failed);
    return OUTCOME_READY;
}

enum outcome tools_call(struct mcp_request *request, json_t **ret, struct error *err)
{
    const char *name = NULL;
    json_t *arguments = NULL;

    if (read_params(request->params, &name, &arguments, err) < 0)
        return OUTCOME_FAILED;
    request->tool_call = (struct tool_call){
        .caller = &request->peer->caller,
        .arguments = arguments,
        .wants_progress = request->progress_token != NULL,
        .progress = on_progress,
        .log = on_log,
        .done = on_done,
    };
    return start(request, name, ret, err);
}
