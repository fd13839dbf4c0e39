/* The Model Context Protocol, five revisions at once, over any transport.
 *
 * One request is one `struct mcp_request`, embedded in the JSON-RPC call above it; it embeds the
 * tool call below. Which revision applies is decided per message: a request whose _meta names a
 * protocol version is served statelessly at that version; otherwise the version that `initialize`
 * negotiated applies. Everything is built in the newest shape and translated down. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "server/mcp/headers.h"
#include "server/mcp/progress.h"
#include "server/mcp/subscriptions.h"
#include "server/mcp/version.h"
#include "server/tools/caller.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct job;
struct listing_cache;
struct registry;
struct request_states;
struct task;
struct task_store;

/* What this server is. */
struct mcp_server {
    /* Inputs, set before mcp_server_init; borrowed, and outlive all peers. */
    struct ev_loop *loop;
    struct registry *registry;
    const char *name;
    const char *title; /* this and the next ones may be NULL */
    const char *version;
    const char *description;
    const char *website_url;
    json_t *icons;            /* array of {src, mimeType, sizes} */
    const char *instructions; /* for the model */
    size_t page_size;         /* most entries of a list in one answer; 0: as many as usual */

    /* Private. */
    struct principals *principals;         /* owned */
    struct request_states *request_states; /* owned */
    struct listing_cache *listing_cache;   /* owned */
    struct subscriptions *subscriptions;   /* owned */
    struct task_store *tasks;              /* owned */
};

void mcp_server_init(struct mcp_server *server);

/* Ends what goes on without a request: tasks. */
void mcp_server_stop(struct mcp_server *server);

/* All peers are gone. */
void mcp_server_deinit(struct mcp_server *server);

struct mcp_peer_settings {
    const char *principal; /* who it is, for what must be kept apart; copied */
    const char *label;     /* what the log calls this connection or session, or NULL; copied */
    bool anonymous;        /* others come as the same principal */
    bool lasting;          /* it comes again: a connection, a session */
    bool stateless;        /* one request that stands alone: there is no handshake */
};

/* The other side of one connection, session or request that stands alone. */
struct mcp_peer {
    struct mcp_server *server;   /* borrowed */
    enum mcp_version negotiated; /* by `initialize`; MCP_VERSION_NONE before it */
    json_t *capabilities;        /* of the client, from `initialize`; owned; NULL before it */
    int log_level;               /* least severe level sent to a legacy peer (enum log_severity) */
    bool anonymous;
    bool stateless;
    bool slow;                    /* does not read: progress and log messages are dropped */
    struct tool_caller *caller;   /* the tools' half; owned reference */
    struct subscriber subscriber; /* what it is told without a request */

    /* Set by whoever embeds it: a notification that belongs to no request. PARAMS is taken. */
    void (*notify)(struct mcp_peer *peer, const char *method, json_t *params);
};

void mcp_peer_init(struct mcp_peer *peer, struct mcp_server *server,
                   const struct mcp_peer_settings *settings);
void mcp_peer_deinit(struct mcp_peer *peer);

/* SLOW: what can be left out is, until it is not. */
void mcp_peer_set_slow(struct mcp_peer *peer, bool slow);

/* There will be nothing more to hear: requests that listen are answered. */
void mcp_peer_conclude(struct mcp_peer *peer);

/* True when a JSON-RPC batch is legal for this peer now (2025-03-26 only). */
bool mcp_peer_allows_batch(const struct mcp_peer *peer);

/* What a request is before anything is known of who sent it. */
enum mcp_era {
    MCP_ERA_ANY,       /* of the revision that was negotiated */
    MCP_ERA_HANDSHAKE, /* `initialize` */
    MCP_ERA_MODERN,    /* claims to stand alone, rightly or not */
};

enum mcp_era mcp_era_of(const char *method, const json_t *params);

struct mcp_request {
    /* Inputs, set before mcp_request_start. */
    struct mcp_peer *peer;             /* borrowed */
    const char *id;                    /* JSON text; this and the next ones are borrowed */
    const char *method;                /* until the request is deinitialised */
    json_t *params;                    /* borrowed likewise; NULL when absent */
    const struct mcp_headers *headers; /* of HTTP, NULL elsewhere; borrowed until started */
    bool in_batch;

    /* A notification that belongs to this request. PARAMS is taken. */
    void (*notify)(struct mcp_request *request, const char *method, json_t *params);

    /* Asks the client (up to 2025-11-25); PARAMS is taken. The number that mcp_request_answer is
     * called with, or 0: this client cannot be asked. */
    unsigned (*ask)(struct mcp_request *request, const char *method, json_t *params);

    /* What was asked by NUMBER is not wanted any more. */
    void (*withdraw)(struct mcp_request *request, unsigned number);

    /* The client may be let go; it comes back for the answer. */
    void (*release)(struct mcp_request *request);

    /* The end: RESULT (taken) and ERR == NULL, or RESULT == NULL and ERR set. */
    void (*done)(struct mcp_request *request, json_t *result, const struct error *err);

    /* Output beside an error: the `data` member, or NULL. Owned. */
    json_t *error_data;

    /* Output instead of a result: its JSON text, or NULL. Borrowed until anything changes. */
    const char *text;

    /* Private. */
    enum mcp_version version;
    const json_t *capabilities; /* of the client, at this request; borrowed; NULL for none */
    struct progress progress;
    int log_level;               /* least severe level a modern request wants; -1: none */
    struct subscriber *listener; /* what it listens to; owned; NULL: nothing */
    struct job *job;     /* what was started for it; owned; NULL: nothing, or not any more */
    struct task *task;   /* that it waits for; borrowed; NULL: it does not */
    struct list waiting; /* in the task */
    void (*cancel)(struct mcp_request *request); /* how it is ended while it is pending */
};

/* See outcome.h. Answers READY with *RET (new reference) or `text`, PENDING, or FAILED with ERR. */
enum outcome mcp_request_start(struct mcp_request *request, json_t **ret, struct error *err);

/* What the client answered to what was asked by NUMBER: RESULT (borrowed), or NULL and ERR. */
void mcp_request_answer(struct mcp_request *request, unsigned number, json_t *result,
                        const struct error *err);

/* Ends a pending request without an answer. */
void mcp_request_cancel(struct mcp_request *request);
void mcp_request_deinit(struct mcp_request *request);
