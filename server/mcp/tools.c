#include "server/mcp/tools.h"

#include "base/json.h"
#include "server/mcp/job.h"
#include "server/mcp/result.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"

#include <string.h>

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

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
        {"icons", MCP_2025_11_25},
    };
    json_t *object = json_pack(
        "{s:s, s:s*, s:s, s:O, s:O*, s:O*, s:O*}", "name", tool->name, "title", tool->title,
        "description", tool->description, "inputSchema", tool->input_schema, "outputSchema",
        tool->output_schema, "annotations", tool->annotations, "icons", tool->icons);

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
    for (size_t i = 0; i < registry_count(registry, REGISTRY_TOOLS); i++)
        json_array_append_new(
            list, definition(tool_of(registry_at(registry, REGISTRY_TOOLS, i)), request->version));
    *ret = result_finish_cacheable(request->peer->server, request->version,
                                   json_pack("{s:o}", "tools", list), &result_caching_list);
    return OUTCOME_READY;
}

/* tools/call */

static json_t *success(const struct job *job)
{
    static const struct result_member MEMBERS[] = {{"structuredContent", MCP_2025_06_18}};
    const struct invocation_result *answer = &job->call.result;
    json_t *result =
        json_pack("{s:o, s:O*, s:b}", "content", result_content(answer->content, job->version),
                  "structuredContent", answer->structured, "isError", answer->is_error);

    result_drop_newer(result, MEMBERS, COUNT(MEMBERS), job->version);
    if (!mcp_version_is_modern(job->version) && !json_is_object(answer->structured))
        json_object_del(result, "structuredContent");
    return result_finish(job->server, job->version, result);
}

/* Up to 2025-06-18 arguments that do not fit are a fault of the protocol; later revisions let the
 * model see them and mend its call. */
static bool is_protocol_error(const struct job *job, const struct error *err)
{
    return error_is_protocol(err) ||
           (err->code == ERROR_INVALID_ARGUMENTS && job->version <= MCP_2025_06_18);
}

static json_t *failure(const struct job *job, const struct error *err)
{
    json_t *text;

    if (is_protocol_error(job, err))
        return NULL;
    text = json_string_repaired(err->message, strlen(err->message));
    return result_finish(job->server, job->version,
                         json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text", text,
                                   "isError", true));
}

static const struct job_kind tool_kind = {.result = success, .failure = failure};

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

enum outcome tools_call(struct mcp_request *request, json_t **ret, struct error *err)
{
    const char *name = NULL;
    json_t *arguments = NULL;
    struct error failed = ERROR_INIT;
    struct job *job;

    if (read_params(request->params, &name, &arguments, err) < 0)
        return OUTCOME_FAILED;
    job = job_new(request, &tool_kind, name, arguments, err);
    if (!job)
        return OUTCOME_FAILED;
    if (tool_prepare(&job->call, request->peer->server->registry, name, &failed) < 0)
        return job_fail(job, &failed, ret, err);
    return job_start(job, ret, err);
}
