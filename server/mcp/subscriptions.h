/* Notifications to clients of lists, resources and tasks that change.
 *
 *     registry, task store --- subscriptions --- subscribers: peers (up to 2025-11-25), and
 * requests that listen
 *
 * A subscriber notes changes, and is told of them when the loop comes round: a change that happens
 * several times until then, or while its client does not read, is told once. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>

struct mcp_peer;
struct mcp_request;
struct mcp_server;
struct subscriptions;

enum {
    SUBSCRIPTIONS_LISTENERS = 1024, /* most requests that listen at a time */
    SUBSCRIPTIONS_LISTENERS_PER_PRINCIPAL = SUBSCRIPTIONS_LISTENERS / 4,
    SUBSCRIPTIONS_RESOURCES_PER_PRINCIPAL = 4096, /* most that its subscribers watch together */
};

struct subscriptions *subscriptions_new(struct mcp_server *server);

/* Nobody listens any more. Harmless for NULL. */
void subscriptions_free(struct subscriptions *subscriptions);

/* Makes PEER a subscriber, which wants nothing yet. */
void subscriptions_add_peer(struct mcp_peer *peer);
void subscriptions_remove_peer(struct mcp_peer *peer);

/* PEER, which has just done the handshake, wants to know of the lists that it has been told of. */
void subscriptions_begin(struct mcp_peer *peer);

/* PEER reads again: it is told of the changes that it has missed. */
void subscriptions_resume(struct mcp_peer *peer);

/* Answers the requests of PEER that listen: there will be nothing more. */
void subscriptions_end(struct mcp_peer *peer);

/* The methods `resources/subscribe`, `resources/unsubscribe` and `subscriptions/listen`. */
enum outcome subscriptions_subscribe(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome subscriptions_unsubscribe(struct mcp_request *request, json_t **ret,
                                       struct error *err);
enum outcome subscriptions_listen(struct mcp_request *request, json_t **ret, struct error *err);

/* Ends what REQUEST listens to, if it does, in silence. */
void subscriptions_forget(struct mcp_request *request);
