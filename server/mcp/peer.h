/* The other side of one connection, session or request that stands alone. */
#pragma once

#include "base/protocol/version.h"
#include "server/mcp/subscriber.h"

#include <jansson.h>
#include <stdbool.h>

struct mcp_server;
struct tool_caller;

struct mcp_peer_settings {
    const char *principal; /* the principal that it comes as, which keeps clients apart; copied */
    const char *label;     /* the name of this connection or session in the log, or NULL; copied */
    bool anonymous;        /* other clients come as the same principal */
    bool lasting;          /* it comes again: a connection, a session */
    bool is_local;         /* a process of our user on this machine, as far as is known */
    bool stateless;        /* one request that stands alone: there is no handshake */
};

struct mcp_peer {
    struct mcp_server *server;   /* borrowed */
    enum mcp_version negotiated; /* by `initialize`; MCP_VERSION_NONE before it */
    json_t *capabilities;        /* of the client, from `initialize`; owned; NULL before it */
    int log_level;               /* least severe level sent to a legacy peer (enum log_severity) */
    bool anonymous;
    bool stateless;
    bool slow;                    /* does not read: progress and log messages are dropped */
    struct tool_caller *caller;   /* the tools' half; owned reference */
    struct subscriber subscriber; /* the changes that it is told of without a request */

    /* Set by the embedding object: sends a notification that belongs to no request. PARAMS is
     * taken. */
    void (*notify)(struct mcp_peer *peer, const char *method, json_t *params);
};

void mcp_peer_init(struct mcp_peer *peer, struct mcp_server *server,
                   const struct mcp_peer_settings *settings);
void mcp_peer_deinit(struct mcp_peer *peer);

/* SLOW: progress and log messages are dropped until this is false again. */
void mcp_peer_set_slow(struct mcp_peer *peer, bool slow);

/* Answers the requests that listen: PEER is told nothing more. */
void mcp_peer_conclude(struct mcp_peer *peer);

/* True when PEER may send a JSON-RPC batch now (2025-03-26 only). */
bool mcp_peer_allows_batch(const struct mcp_peer *peer);
