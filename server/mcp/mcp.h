/* The Model Context Protocol, five revisions at once, over any transport.
 *
 * One request is one `struct mcp_request`, embedded in the JSON-RPC call above it; it embeds the
 * tool call below. Which revision applies is decided per message: a request whose _meta names a
 * protocol version is served statelessly at that version; otherwise the version that `initialize`
 * negotiated applies. Everything is built in the newest shape and translated down. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/version.h"
#include "server/tools/tool.h"

#include <jansson.h>
#include <stdbool.h>

struct registry;

/* What this server is. Everything is borrowed and outlives all peers. */
struct mcp_server {
    const char *name;
    const char *title;
    const char *version;
    const char *instructions; /* for the model; or NULL */
    struct registry *registry;
};

/* The other side of one connection. */
struct mcp_peer {
    struct mcp_server *server;   /* borrowed */
    enum mcp_version negotiated; /* by `initialize`; MCP_VERSION_NONE before it */
    int log_level;             /* least severe level sent to a legacy peer (enum tool_log_level) */
    bool slow;                 /* does not read: progress and log messages are dropped */
    struct tool_caller caller; /* the tools' half */
};

void mcp_peer_init(struct mcp_peer *peer, struct mcp_server *server, const char *principal);
void mcp_peer_deinit(struct mcp_peer *peer);

/* True when a JSON-RPC batch is legal for this peer now (2025-03-26 only). */
bool mcp_peer_allows_batch(const struct mcp_peer *peer);

struct mcp_request {
    /* Inputs, set before mcp_request_start. */
    struct mcp_peer *peer; /* borrowed */
    const char *method;    /* borrowed until the request is deinitialised */
    json_t *params;        /* borrowed likewise; NULL when absent */
    bool in_batch;

    /* A notification that belongs to this request. PARAMS is taken. */
    void (*notify)(struct mcp_request *request, const char *method, json_t *params);

    /* The end: RESULT (taken) and ERR == NULL, or RESULT == NULL and ERR set. */
    void (*done)(struct mcp_request *request, json_t *result, const struct error *err);

    /* Output beside an error: the `data` member, or NULL. Owned. */
    json_t *error_data;

    /* Private. */
    enum mcp_version version;
    json_t *progress_token; /* borrowed from params; NULL: no progress wanted */
    double progress;        /* the last that was told */
    int log_level;          /* least severe level a modern request wants; -1: none */
    struct tool_call tool_call;
};

/* See outcome.h. Answers READY with *RET (new reference), PENDING, or FAILED with ERR. */
enum outcome mcp_request_start(struct mcp_request *request, json_t **ret, struct error *err);

/* Ends a pending request without an answer. */
void mcp_request_cancel(struct mcp_request *request);
void mcp_request_deinit(struct mcp_request *request);
