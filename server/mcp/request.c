#include "server/mcp/request.h"

#include "base/memory.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/completion.h"
#include "server/mcp/handshake.h"
#include "server/mcp/headers.h"
#include "server/mcp/job.h"
#include "server/mcp/logging.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/prompts.h"
#include "server/mcp/resources.h"
#include "server/mcp/subscriptions.h"
#include "server/mcp/task.h"
#include "server/mcp/tasks.h"
#include "server/mcp/tools.h"

#include <string.h>

enum { METHOD_SHOWN_BYTES = 64 };

/* Revisions */

static bool is_method(const struct mcp_request *request, const char *name)
{
    return strcmp(request->method, name) == 0;
}

enum mcp_era mcp_era_of(const char *method, const json_t *params)
{
    if (strcmp(method, "initialize") == 0 && !envelope_is_modern(params))
        return MCP_ERA_HANDSHAKE;
    return envelope_is_claimed(params) ? MCP_ERA_MODERN : MCP_ERA_ANY;
}

/* Chooses the version of a request that comes before `initialize`. */
static int choose_first_version(struct mcp_request *request, struct error *err)
{
    if (is_method(request, "ping")) {
        request->version = MCP_2025_11_25;
        return 0;
    }
    if (is_method(request, "server/discover"))
        return error_set(err, ERROR_ENVELOPE,
                         "_meta must name the protocol version and the client's capabilities");
    return error_set(err, ERROR_INVALID_REQUEST, "server not initialized; send initialize first");
}

/* Refuses a request without the envelope that its header fields announce. */
static int refuse_stateless(enum mcp_era era, struct error *err)
{
    if (era == MCP_ERA_HANDSHAKE)
        return error_set(err, ERROR_HEADER_MISMATCH,
                         "the MCP-Protocol-Version of the header has no initialize");
    return error_set(err, ERROR_ENVELOPE,
                     "_meta must name the protocol version and the client's capabilities");
}

static int mcp_choose_version(struct mcp_request *request, struct error *err)
{
    enum mcp_era era = mcp_era_of(request->method, request->params);

    if (request->in_batch && era != MCP_ERA_ANY)
        return error_set(err, ERROR_INVALID_REQUEST, "not allowed in a batch");
    if (era == MCP_ERA_MODERN)
        return envelope_read(request, err) < 0 ? -1 : headers_check_method(request, err);
    if (request->peer->stateless)
        return refuse_stateless(era, err);
    if (era == MCP_ERA_HANDSHAKE) {
        request->version = MCP_2025_11_25;
        return 0;
    }
    if (request->peer->negotiated == MCP_VERSION_NONE)
        return choose_first_version(request, err);
    request->version = request->peer->negotiated;
    request->capabilities = request->peer->capabilities;
    return 0;
}

/* Methods */

/* The methods of the protocol: the revisions that each is part of, and the function that answers
 * it. */
struct method {
    const char *name;
    enum mcp_version first;
    enum mcp_version last;
    enum capability needs; /* of the server */
    enum outcome (*start)(struct mcp_request *request, json_t **ret, struct error *err);
};

static const struct method METHODS[] = {
    {"initialize", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_NONE, handshake_initialize},
    {"server/discover", MCP_2026_07_28, MCP_2026_07_28, CAPABILITY_NONE, handshake_discover},
    {"ping", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_NONE, handshake_ping},
    {"logging/setLevel", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_NONE, logging_set_level},
    {"tools/list", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_TOOLS, tools_list},
    {"tools/call", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_TOOLS, tools_call},
    {"resources/list", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_RESOURCES, resources_list},
    {"resources/templates/list", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_RESOURCES,
     resources_list_templates},
    {"resources/read", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_RESOURCES, resources_read},
    {"resources/subscribe", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_RESOURCES,
     subscriptions_subscribe},
    {"resources/unsubscribe", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_RESOURCES,
     subscriptions_unsubscribe},
    {"subscriptions/listen", MCP_2026_07_28, MCP_2026_07_28, CAPABILITY_NONE, subscriptions_listen},
    {"prompts/list", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_PROMPTS, prompts_list},
    {"prompts/get", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_PROMPTS, prompts_get},
    {"completion/complete", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_COMPLETIONS,
     completion_complete},
    {"tasks/get", MCP_2025_11_25, MCP_2026_07_28, CAPABILITY_TOOLS, tasks_get},
    {"tasks/result", MCP_2025_11_25, MCP_2025_11_25, CAPABILITY_TOOLS, tasks_result},
    {"tasks/update", MCP_2026_07_28, MCP_2026_07_28, CAPABILITY_TOOLS, tasks_update},
    {"tasks/cancel", MCP_2025_11_25, MCP_2026_07_28, CAPABILITY_TOOLS, tasks_cancel},
    {"tasks/list", MCP_2025_11_25, MCP_2025_11_25, CAPABILITY_TOOLS, tasks_list},
};

/* The method of REQUEST, whose version is known; NULL when the version or the server has no method
 * of its name. */
static const struct method *method_find(const struct mcp_request *request)
{
    for (size_t i = 0; i < ARRAY_SIZE(METHODS); i++) {
        const struct method *method = &METHODS[i];

        if (strcmp(request->method, method->name) == 0 && request->version >= method->first &&
            request->version <= method->last &&
            capabilities_include(request->peer->server, method->needs))
            return method;
    }
    return NULL;
}

/* The request */

enum outcome mcp_request_start(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct method *method;

    if (mcp_choose_version(request, err) < 0)
        return OUTCOME_FAILED;
    method = method_find(request);
    if (!method)
        return error_set(err, ERROR_METHOD_NOT_FOUND, "%.*s", METHOD_SHOWN_BYTES, request->method);
    progress_init(&request->progress, envelope_progress_token(request->params));
    return method->start(request, ret, err);
}

void mcp_request_answer(struct mcp_request *request, unsigned number, json_t *result,
                        const struct error *err)
{
    if (request->job)
        job_take_answer(request->job, number, result, err);
    else if (request->task)
        task_take_answer(request->task, number, result, err);
}

void mcp_request_cancel(struct mcp_request *request)
{
    request->cancel(request);
}

void mcp_request_deinit(struct mcp_request *request)
{
    subscriptions_forget(request);
    job_free(request->job);
    request->job = NULL;
    json_decref(request->error_data);
    request->error_data = NULL;
}
