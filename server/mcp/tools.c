#include "server/mcp/tools.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/headers.h"
#include "server/mcp/job.h"
#include "server/mcp/listing.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/mcp/tasks.h"
#include "server/tools/account.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"

#include <stdlib.h>
#include <string.h>

/* tools/list */

static bool is_object_schema(const json_t *schema)
{
    const char *type = json_object_get_string(schema, "type");

    return type && strcmp(type, "object") == 0;
}

static const char *const task_support_names[] = {
    [TOOL_TASK_FORBIDDEN] = "forbidden",
    [TOOL_TASK_OPTIONAL] = "optional",
    [TOOL_TASK_REQUIRED] = "required",
};

/* The view that PRINCIPAL has of TOOL; NULL: the view of everybody. */
static struct tool_view tools_view(const struct tool *tool, const struct principal *principal)
{
    struct tool_view view;

    if (principal && tool->view && tool->view(tool, principal, &view))
        return view;
    return (struct tool_view){memory_copy_string(tool->description),
                              json_incref(tool->input_schema)};
}

static json_t *tools_define(const struct registry_entry *entry, const struct listing_reader *reader)
{
    static const struct result_member MEMBERS[] = {
        {"annotations", MCP_2025_03_26},
        {"title", MCP_2025_06_18},
        {"outputSchema", MCP_2025_06_18},
        {"icons", MCP_2025_11_25},
    };
    const struct tool *tool = tool_of(entry);
    enum mcp_version version = reader->version;
    struct tool_view view = tools_view(tool, reader->principal);
    json_t *object = json_pack("{s:s, s:s*, s:s, s:o, s:O*, s:O*, s:O*}", "name", tool->name,
                               "title", tool->title, "description", view.description, "inputSchema",
                               view.input_schema, "outputSchema", tool->output_schema,
                               "annotations", tool->annotations, "icons", tool->icons);

    free(view.description);
    if (version == MCP_2025_11_25 && tool->task_support != TOOL_TASK_FORBIDDEN)
        json_object_set_new(
            object, "execution",
            json_pack("{s:s}", "taskSupport", task_support_names[tool->task_support]));
    result_drop_newer(object, MEMBERS, ARRAY_SIZE(MEMBERS), version);
    if (!tool_is_structured(tool, reader->form) ||
        (!mcp_version_is_modern(version) && !is_object_schema(tool->output_schema)))
        json_object_del(object, "outputSchema");
    return object;
}

static bool tools_are_personal(const struct registry *registry, const struct principal *principal)
{
    for (size_t i = 0; i < registry_count(registry, REGISTRY_TOOLS); i++) {
        const struct tool *tool = tool_of(registry_at(registry, REGISTRY_TOOLS, i));

        if (tool->view && tool->view(tool, principal, NULL))
            return true;
    }
    return false;
}

enum outcome tools_list(struct mcp_request *request, json_t **ret, struct error *err)
{
    static const struct listing listing = {REGISTRY_TOOLS, "tools", tools_define,
                                           tools_are_personal};

    return listing_answer(request, &listing, ret, err);
}

/* tools/call */

/* Where a revision has no structured content, it is in `_meta`. There is none that nobody has asked
 * for: several agents show their model the whole result, `_meta` too. */
static json_t *tools_success(const struct job *job)
{
    const struct invocation_result *answer = &job->invocation.result;
    json_t *structured = answer->structured;
    json_t *result =
        json_pack("{s:o, s:b}", "content", result_content(answer->content, job->version), //
                  "isError", answer->is_error);

    if (job->version >= MCP_2025_06_18 &&
        (json_is_object(structured) || mcp_version_is_modern(job->version)))
        json_object_set(result, "structuredContent", structured);
    else if (structured)
        json_object_set_new(result, "_meta", json_pack("{s:O}", MCP_META_RESULT, structured));
    if (answer->failure)
        result_add_meta(result, json_pack("{s:s}", MCP_META_FAILURE, answer->failure));
    return result_finish(job->server, job->version, result);
}

/* Up to 2025-06-18 invalid arguments are a protocol error; later revisions show them to the model,
 * which can correct its call. */
static bool is_protocol_error(const struct job *job, const struct error *err)
{
    return error_is_protocol(err) ||
           (err->code == ERROR_INVALID_ARGUMENTS && job->version <= MCP_2025_06_18);
}

static json_t *tools_failure(const struct job *job, const struct error *err)
{
    AUTO_FREE char *message = error_text(err);
    json_t *text;

    if (is_protocol_error(job, err))
        return NULL;
    text = json_string_repaired(message, strlen(message));
    return result_finish(job->server, job->version,
                         json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text", text,
                                   "isError", true));
}

static const struct job_kind tool_kind = {.result = tools_success, .failure = tools_failure};

/* Prepares JOB as a call of the tool NAME, unless its caller has reached its limit. Calls with
 * invalid arguments count, too. */
static int tools_prepare(struct job *job, const char *name, struct error *err)
{
    const struct principal *principal = job->invocation.caller->principal;
    struct error too_many = ERROR_INIT;
    int admitted = limits_admit_call(principal->limits, principal->name, &too_many);

    if (tool_prepare(&job->invocation, job->server->registry, name, err) < 0)
        return -1;
    if (admitted < 0) {
        account_refuse(&job->invocation, name, &too_many);
        error_copy(err, &too_many);
    }
    return admitted;
}

static int check_headers(const struct mcp_request *request, const char *name,
                         const json_t *arguments, struct error *err)
{
    const struct registry_entry *tool =
        registry_find(request->peer->server->registry, REGISTRY_TOOLS, name);

    return tool ? headers_check_parameters(request, tool_headers(tool), arguments, err) : 0;
}

enum outcome tools_call(struct mcp_request *request, json_t **ret, struct error *err)
{
    const char *name = NULL;
    json_t *arguments = NULL;
    enum result_form form;
    bool wants_output;
    struct error_rest rest;
    struct error failed = ERROR_INIT_LONG(&rest);
    struct job *job;

    if (params_name(request->params, "name", &name, err) < 0 ||
        params_arguments(request->params, &arguments, err) < 0 ||
        envelope_result_form(request->params, &form, err) < 0 ||
        envelope_wants_output(request->params, &wants_output, err) < 0 ||
        check_headers(request, name, arguments, err) < 0)
        return OUTCOME_FAILED;
    job = job_new(request, &tool_kind, name, arguments, err);
    if (!job)
        return OUTCOME_FAILED;
    job->invocation.form = form;
    job->invocation.wants_output = wants_output && request->progress.token;
    if (tools_prepare(job, name, &failed) < 0 && failed.code == ERROR_UNKNOWN_TOOL)
        return job_fail(job, &failed, ret, err);
    return tasks_start_call(job, failed.code == ERROR_NONE ? NULL : &failed, ret, err);
}
