#include "server/mcp/peer.h"

#include "server/mcp/logging.h"
#include "server/mcp/server.h"
#include "server/mcp/subscriptions.h"
#include "server/mcp/task_store.h"
#include "server/tools/caller.h"

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
    peer->caller->anonymous = settings->anonymous;
    peer->caller->is_local = settings->is_local;
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
