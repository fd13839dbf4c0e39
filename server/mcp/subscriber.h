/* A subscriber to changes: its wishes, and the changes that it is to be told next. */
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
    SUBSCRIPTIONS_URI_BYTES = 8192, /* the longest URI of a resource */
};

struct subscriber {
    struct list link;            /* in the server's subscriptions */
    struct mcp_peer *peer;       /* borrowed: the peer that it belongs to */
    struct mcp_request *request; /* borrowed: the request that listens; NULL: the peer itself
                                    listens */
    json_t *id;                  /* owned: the id of `request`; NULL: the peer itself listens */
    unsigned wanted;             /* a bit for each list */
    unsigned pending;            /* a bit for each list that has changed since it was last told */
    json_t *resources;           /* owned: by URI, true if the resource has changed since it was
                                    last told; NULL: none */
    json_t *tasks;               /* the same for ids of tasks */
};

void subscriber_deinit(struct subscriber *subscriber);

/* Tells SUBSCRIBER by METHOD, now. PARAMS is taken. */
void subscriber_send(struct subscriber *subscriber, const char *method, json_t *params);

/* Tells SUBSCRIBER all noted changes. */
void subscriber_tell(struct subscriber *subscriber);

/* It wants every list that the server has. */
void subscriber_want_lists(struct subscriber *subscriber);

/* Adds the resource URI to the wanted resources; -1 when they are too many then. */
int subscriber_add_resource(struct subscriber *subscriber, const char *uri, struct error *err);

/* Reads what LISTENER wants from the parameters of its request. *RET is the part that the server
 * can give. New reference. */
int subscriber_read_wishes(struct subscriber *listener, json_t **ret, struct error *err);

/* Notes a change, if SUBSCRIBER wants to know of it: an entry of KIND, resources, a task. */
void subscriber_note_list(struct subscriber *subscriber, enum registry_kind kind);
void subscriber_note_resource(struct subscriber *subscriber, const struct registry_update *update);
void subscriber_note_task(struct subscriber *subscriber, const char *id);
