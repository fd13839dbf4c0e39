/* One request of the Model Context Protocol, over any transport.
 *
 * It is embedded in the JSON-RPC call above it. The revision is decided for each request: a version
 * in its _meta applies, and the request is served statelessly; otherwise the version negotiated by
 * `initialize` applies. Everything is built in the newest shape and translated down. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "base/protocol/version.h"
#include "server/mcp/job.h"

#include <jansson.h>
#include <stdbool.h>

struct mcp_headers;
struct mcp_peer;
struct subscriber;
struct task;

/* The kind of a request, as far as its text alone tells. */
enum mcp_era {
    MCP_ERA_ANY,       /* of the revision that was negotiated */
    MCP_ERA_HANDSHAKE, /* `initialize` */
    MCP_ERA_MODERN,    /* claims to be stateless, rightly or not */
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

    /* Whether a notification that can wait should be sent now: see sink_has_room. */
    bool (*has_room)(const struct mcp_request *request);

    /* Asks the client (up to 2025-11-25); PARAMS is taken. The number that mcp_request_answer is
     * called with, or 0: this client cannot be asked. */
    unsigned (*ask)(struct mcp_request *request, const char *method, json_t *params);

    /* Withdraws question NUMBER. */
    void (*withdraw)(struct mcp_request *request, unsigned number);

    /* The connection may be closed; the client reconnects for the answer. */
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
    struct subscriber *listener; /* the subscriptions that it listens for; owned; NULL: it does not
                                    listen */
    struct job *job;             /* owned; NULL: none was started, or it has left the request */
    struct task *task;           /* that it waits for; borrowed; NULL: it does not */
    struct list waiting;         /* in the task */
    void (*cancel)(struct mcp_request *request); /* how it is ended while it is pending */
};

/* See outcome.h. Answers READY with *RET (new reference) or `text`, PENDING, or FAILED with ERR. */
enum outcome mcp_request_start(struct mcp_request *request, json_t **ret, struct error *err);

/* Hands over the client's answer to question NUMBER: RESULT (borrowed), or NULL and ERR. */
void mcp_request_answer(struct mcp_request *request, unsigned number, json_t *result,
                        const struct error *err);

/* Ends a pending request without an answer. */
void mcp_request_cancel(struct mcp_request *request);
void mcp_request_deinit(struct mcp_request *request);
