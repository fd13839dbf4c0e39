#include "server/mcp/mcp.h"

#include "server/mcp/envelope.h"
#include "server/mcp/handshake.h"
#include "server/mcp/logging.h"
#include "server/mcp/tools.h"

#include <math.h>
#include <string.h>

enum { METHOD_SHOWN_BYTES = 64 };

struct method {
    const char *name;
    enum mcp_version first;
    enum mcp_version last;
    enum outcome (*start)(struct mcp_request *request, json_t **ret, struct error *err);
};

static const struct method METHODS[] = {
    {"initialize", MCP_2024_11_05, MCP_2025_11_25, handshake_initialize},
    {"server/discover", MCP_2026_07_28, MCP_2026_07_28, handshake_discover},
    {"ping", MCP_2024_11_05, MCP_2025_11_25, handshake_ping},
    {"logging/setLevel", MCP_2024_11_05, MCP_2025_11_25, logging_set_level},
    {"tools/list", MCP_2024_11_05, MCP_2026_07_28, tools_list},
    {"tools/call", MCP_2024_11_05, MCP_2026_07_28, tools_call},
};

void mcp_peer_init(struct mcp_peer *peer, struct mcp_server *server, const char *principal)
{
    *peer = (struct mcp_peer){.server = server, .log_level = LOGGING_DEFAULT_LEVEL};
    tool_caller_init(&peer->caller, principal);
}

void mcp_peer_deinit(struct mcp_peer *peer)
{
    tool_caller_deinit(&peer->caller);
}

bool mcp_peer_allows_batch(const struct mcp_peer *peer)
{
    return peer->negotiated == MCP_2025_03_26;
}

static bool is_method(const struct mcp_request *request, const char *name)
{
    return strcmp(request->method, name) == 0;
}

static bool is_handshake(const struct mcp_request *request)
{
    return is_method(request, "initialize") && !envelope_is_modern(request->params);
}

/* What may be asked for before `initialize`, at which version. */
static int choose_first_version(struct mcp_request *request, struct error *err)
{
    if (is_method(request, "ping")) {
        request->version = MCP_2025_11_25;
        return 0;
    }
    if (is_method(request, "server/discover"))
        return error_set(err, ERROR_INVALID_PARAMS,
                         "_meta must name the protocol version and the client's capabilities");
    return error_set(err, ERROR_INVALID_REQUEST, "server not initialized; send initialize first");
}

static int choose_version(struct mcp_request *request, struct error *err)
{
    bool alone = envelope_is_claimed(request->params);

    if (request->in_batch && (alone || is_handshake(request)))
        return error_set(err, ERROR_INVALID_REQUEST, "not allowed in a batch");
    if (is_handshake(request)) {
        request->version = MCP_2025_11_25;
        return 0;
    }
    if (alone)
        return envelope_read(request, err);
    if (request->peer->negotiated == MCP_VERSION_NONE)
        return choose_first_version(request, err);
    request->version = request->peer->negotiated;
    return 0;
}

static const struct method *find_method(const struct mcp_request *request)
{
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        const struct method *method = &METHODS[i];

        if (is_method(request, method->name) && request->version >= method->first &&
            request->version <= method->last)
            return method;
    }
    return NULL;
}

enum outcome mcp_request_start(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct method *method;

    if (choose_version(request, err) < 0)
        return OUTCOME_FAILED;
    method = find_method(request);
    if (!method)
        return error_set(err, ERROR_METHOD_NOT_FOUND, "%.*s", METHOD_SHOWN_BYTES, request->method);
    request->progress_token = envelope_progress_token(request->params);
    request->progress = -INFINITY;
    return method->start(request, ret, err);
}

/* Only tool calls are ever pending. */
void mcp_request_cancel(struct mcp_request *request)
{
    tool_call_cancel(&request->tool_call);
}

void mcp_request_deinit(struct mcp_request *request)
{
    tool_call_deinit(&request->tool_call);
    json_decref(request->error_data);
    request->error_data = NULL;
}
