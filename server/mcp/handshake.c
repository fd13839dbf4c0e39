#include "server/mcp/handshake.h"

#include "base/cleanup.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/mcp/subscriptions.h"
#include "server/tools/caller.h"

/* The version asked for, or the newest that has a handshake. */
static enum mcp_version handshake_agree(const json_t *requested)
{
    enum mcp_version version = mcp_version_of(requested);

    if (version == MCP_VERSION_NONE || mcp_version_is_modern(version))
        return MCP_2025_11_25;
    return version;
}

/* Members may be missing; a present member must have the right type. */
static int check_initialize(const json_t *params, struct error *err)
{
    const json_t *capability = json_object_get(params, "capabilities");
    const json_t *client = json_object_get(params, "clientInfo");

    if (!json_is_string(json_object_get(params, "protocolVersion")))
        return error_set(err, ERROR_INVALID_PARAMS,
                         "protocolVersion must be there and be a string");
    if (capability && !json_is_object(capability))
        return error_set(err, ERROR_INVALID_PARAMS, "capabilities must be an object");
    if (client && !json_is_object(client))
        return error_set(err, ERROR_INVALID_PARAMS, "clientInfo must be an object");
    return 0;
}

/* Owned by the caller, or NULL. */
static char *handshake_instructions(const struct mcp_peer *peer, bool *ret_is_own)
{
    const struct mcp_server *server = peer->server;

    *ret_is_own = false;
    return server->instruct
               ? server->instruct(server->instruct_data, peer->caller->principal, ret_is_own)
               : NULL;
}

enum outcome handshake_initialize(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct mcp_server *server = request->peer->server;
    json_t *client = json_object_get(request->params, "capabilities");
    AUTO_FREE char *instructions = NULL;
    bool ignored;

    if (check_initialize(request->params, err) < 0)
        return OUTCOME_FAILED;
    request->version = handshake_agree(json_object_get(request->params, "protocolVersion"));
    request->peer->negotiated = request->version;
    json_decref(request->peer->capabilities);
    request->peer->capabilities = json_incref(client);
    subscriptions_begin(request->peer);
    instructions = handshake_instructions(request->peer, &ignored);
    *ret = json_pack("{s:s, s:o, s:o, s:s*}", "protocolVersion", mcp_version_name(request->version),
                     "capabilities", capabilities_of_server(request->peer, request->version),
                     "serverInfo", result_server_info(server, request->version), "instructions",
                     instructions);
    return OUTCOME_READY;
}

enum outcome handshake_discover(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct mcp_server *server = request->peer->server;
    bool is_own;
    AUTO_FREE char *instructions = handshake_instructions(request->peer, &is_own);

    (void)err;
    *ret = json_pack("{s:o, s:o, s:s*}", "supportedVersions", mcp_version_list(), "capabilities",
                     capabilities_of_server(request->peer, request->version), "instructions",
                     instructions);
    result_finish_cacheable(server, request->version, *ret,
                            is_own ? &result_caching_own_list : &result_caching_list);
    return OUTCOME_READY;
}

enum outcome handshake_ping(struct mcp_request *request, json_t **ret, struct error *err)
{
    (void)request;
    (void)err;
    *ret = json_object();
    return OUTCOME_READY;
}
