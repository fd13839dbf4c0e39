#include "server/mcp/server.h"

#include "server/mcp/listing.h"
#include "server/mcp/request_state.h"
#include "server/mcp/subscriptions.h"
#include "server/mcp/task_store.h"
#include "server/tools/caller.h"

void mcp_server_init(struct mcp_server *server)
{
    server->principals = principals_new();
    server->request_states = request_states_new(server->replica);
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
