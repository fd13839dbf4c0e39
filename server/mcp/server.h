/* A server of the Model Context Protocol, in all of its revisions at once: the registry, and the
 * state that all clients share. */
#pragma once

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct listing_cache;
struct principal;
struct principals;
struct registry;
struct request_states;
struct subscriptions;
struct task_store;

/* The server. */
struct mcp_server {
    /* Inputs, set before mcp_server_init; borrowed, and outlive all peers. */
    struct ev_loop *loop;
    struct registry *registry;
    const char *name;
    const char *title; /* `title` and the following members may be NULL */
    const char *version;
    const char *description;
    const char *website_url;
    const char *replica; /* its name stands in new handles (base/handle.h) */
    json_t *icons;       /* array of {src, mimeType, sizes} */
    size_t page_size;    /* most entries of a list in one answer; 0: as many as usual */

    /* The instructions for the model of PRINCIPAL, owned by the caller. *RET_IS_OWN: other
     * principals get other instructions. May be NULL. */
    char *(*instruct)(void *data, const struct principal *principal, bool *ret_is_own);
    void *instruct_data; /* borrowed */

    /* Private. */
    struct principals *principals;         /* owned */
    struct request_states *request_states; /* owned */
    struct listing_cache *listing_cache;   /* owned */
    struct subscriptions *subscriptions;   /* owned */
    struct task_store *tasks;              /* owned */
};

void mcp_server_init(struct mcp_server *server);

/* Cancels the tasks, which run without a request. */
void mcp_server_stop(struct mcp_server *server);

/* All peers are gone. */
void mcp_server_deinit(struct mcp_server *server);
