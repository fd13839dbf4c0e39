/* One that is told of what changes: what it wants, and what it is to be told next. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "server/mcp/params.h"
#include "server/tools/registry.h"

#include <jansson.h>

struct mcp_peer;
struct mcp_request;

#define SUBSCRIBER_ID_KEY MCP_META_PREFIX "subscriptionId" /* of a request that listens */

enum {
    SUBSCRIPTIONS_RESOURCES = 1024, /* most resources that one subscriber watches */
    SUBSCRIPTIONS_URI_BYTES = 8192, /* the longest name of one */
};

struct subscriber {
    struct list link;            /* in the server's subscriptions */
    struct mcp_peer *peer;       /* borrowed: whom it belongs to */
    struct mcp_request *request; /* borrowed: what listens; NULL: the peer itself */
    json_t *id;                  /* owned: of that request; NULL: the peer itself */
    unsigned wanted;             /* a bit for each list */
    unsigned pending;            /* those lists that have changed since it was last told */
    json_t *resources;           /* owned: by URI, true if it has changed since then; NULL: none */
    json_t *tasks;               /* the same for ids of tasks */
};

void subscriber_deinit(struct subscriber *subscriber);

/* Tells SUBSCRIBER by METHOD, now. PARAMS is taken. */
void subscriber_send(struct subscriber *subscriber, const char *method, json_t *params);

/* Tells SUBSCRIBER everything that was noted. */
void subscriber_tell(struct subscriber *subscriber);

/* It wants every list that the server has. */
void subscriber_want_lists(struct subscriber *subscriber);

/* Adds the resource URI to what it wants; -1 when that is one too many. */
int subscriber_add_resource(struct subscriber *subscriber, const char *uri, struct error *err);

/* Reads what LISTENER wants from the parameters of its request. *RET is the part that the server
 * can give. New reference. */
int subscriber_read_wishes(struct subscriber *listener, json_t **ret, struct error *err);

/* Notes what has changed, if SUBSCRIBER wants to know: an entry of KIND, resources, a task. */
void subscriber_note_list(struct subscriber *subscriber, enum registry_kind kind);
void subscriber_note_resource(struct subscriber *subscriber, const struct registry_update *update);
void subscriber_note_task(struct subscriber *subscriber, const char *id);
