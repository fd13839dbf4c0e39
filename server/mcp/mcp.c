#include "server/mcp/mcp.h"

#include "base/memory.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/completion.h"
#include "server/mcp/envelope.h"
#include "server/mcp/handshake.h"
#include "server/mcp/job.h"
#include "server/mcp/listing.h"
#include "server/mcp/logging.h"
#include "server/mcp/prompts.h"
#include "server/mcp/request_state.h"
#include "server/mcp/resources.h"
#include "server/mcp/task.h"
#include "server/mcp/task_store.h"
#include "server/mcp/tasks.h"
#include "server/mcp/tools.h"

#include <string.h>

enum { METHOD_SHOWN_BYTES = 64 };

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

void mcp_server_init(struct mcp_server *server)
{
    server->principals = principals_new();
    server->request_states = request_states_new();
    server->tasks = task_store_new(server->loop);
    server->subscriptions = subscriptions_new(server);
    server->listing_cache = listing_cache_new(server->registry);
}

void mcp_server_stop(struct mcp_server *server)
{
    if (server->tasks)
        task_store_stop(server->tasks);
}

void mcp_server_deinit(struct mcp_server *server)
{
    subscriptions_free(server->subscriptions);
    task_store_free(server->tasks);
    listing_cache_free(server->listing_cache);
    request_states_free(server->request_states);
    principals_free(server->principals);
}

void mcp_peer_init(struct mcp_peer *peer, struct mcp_server *server,
                   const struct mcp_peer_settings *settings)
{
    *peer = (struct mcp_peer){
        .server = server,
        .log_level = LOGGING_DEFAULT_LEVEL,
        .anonymous = settings->anonymous,
        .stateless = settings->stateless,
        .caller = tool_caller_new(server->principals, settings->principal, settings->lasting),
    };
    tool_caller_set_label(peer->caller, settings->label);
    subscriptions_add_peer(peer);
}

void mcp_peer_deinit(struct mcp_peer *peer)
{
    subscriptions_remove_peer(peer);
    task_store_forget(peer->server->tasks, peer);
    tool_caller_unref(peer->caller);
    peer->caller = NULL;
    json_decref(peer->capabilities);
    peer->capabilities = NULL;
}

void mcp_peer_set_slow(struct mcp_peer *peer, bool slow)
{
    bool reads_again = peer->slow && !slow;

    peer->slow = slow;
    if (reads_again)
        subscriptions_resume(peer);
}

void mcp_peer_conclude(struct mcp_peer *peer)
{
    subscriptions_end(peer);
}

bool mcp_peer_allows_batch(const struct mcp_peer *peer)
{
    return peer->negotiated == MCP_2025_03_26;
}

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

/* What may be asked for before `initialize`, at which version. */
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

/* Answers a request that comes without the envelope which its header fields promise. */
static int refuse_stateless(enum mcp_era era, struct error *err)
{
    if (era == MCP_ERA_HANDSHAKE)
        return error_set(err, ERROR_HEADER_MISMATCH,
                         "initialize is not part of the MCP-Protocol-Version that is named");
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

static const struct method *find_method(const struct mcp_request *request)
{
    for (size_t i = 0; i < ARRAY_SIZE(METHODS); i++) {
        const struct method *method = &METHODS[i];

        if (is_method(request, method->name) && request->version >= method->first &&
            request->version <= method->last &&
            capabilities_include(request->peer->server, method->needs))
            return method;
    }
    return NULL;
}

enum outcome mcp_request_start(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct method *method;

    if (mcp_choose_version(request, err) < 0)
        return OUTCOME_FAILED;
    method = find_method(request);
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
