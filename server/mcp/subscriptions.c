#include "server/mcp/subscriptions.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/mcp/subscriber.h"
#include "server/mcp/task_store.h"
#include "server/tools/caller.h"
#include "server/tools/registry.h"

#include <ev.h>
#include <stdlib.h>

struct subscriptions {
    struct registry_watcher watcher;
    struct task_watcher task_watcher;
    struct mcp_server *server; /* borrowed: the owner */
    struct list peers;         /* of struct subscriber */
    struct list listeners;     /* likewise */
    size_t listener_count;
    struct ev_timer due; /* running while a subscriber is to be told of a change */
};

/* Telling */

static void tell_all(struct list *subscribers)
{
    LIST_FOR_EACH_SAFE (subscribers, link) {
        struct subscriber *subscriber = CONTAINER_OF(link, struct subscriber, link);

        if (!subscriber->peer->slow)
            subscriber_tell(subscriber);
    }
}

static void subscriptions_on_due(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct subscriptions *subscriptions = CONTAINER_OF(timer, struct subscriptions, due);

    (void)loop;
    (void)events;
    tell_all(&subscriptions->peers);
    tell_all(&subscriptions->listeners);
}

/* Tells all subscribers in the next turn of the loop. */
static void subscriptions_schedule(struct subscriptions *subscriptions)
{
    ev_timer_start(subscriptions->server->loop, &subscriptions->due);
}

/* Noting */

static void note_list(struct list *subscribers, enum registry_kind kind)
{
    LIST_FOR_EACH (subscribers, link) {
        subscriber_note_list(CONTAINER_OF(link, struct subscriber, link), kind);
    }
}

static void subscriptions_on_changed(struct registry_watcher *watcher, enum registry_kind kind)
{
    struct subscriptions *subscriptions = CONTAINER_OF(watcher, struct subscriptions, watcher);

    note_list(&subscriptions->peers, kind);
    note_list(&subscriptions->listeners, kind);
    subscriptions_schedule(subscriptions);
}

static void note_resource(struct list *subscribers, const struct registry_update *update)
{
    LIST_FOR_EACH (subscribers, link) {
        subscriber_note_resource(CONTAINER_OF(link, struct subscriber, link), update);
    }
}

static void subscriptions_on_updated(struct registry_watcher *watcher,
                                     const struct registry_update *update)
{
    struct subscriptions *subscriptions = CONTAINER_OF(watcher, struct subscriptions, watcher);

    note_resource(&subscriptions->peers, update);
    note_resource(&subscriptions->listeners, update);
    subscriptions_schedule(subscriptions);
}

static void subscriptions_on_task_changed(struct task_watcher *watcher, const struct task *task)
{
    struct subscriptions *subscriptions = CONTAINER_OF(watcher, struct subscriptions, task_watcher);

    LIST_FOR_EACH (&subscriptions->listeners, link) {
        subscriber_note_task(CONTAINER_OF(link, struct subscriber, link), task->id);
    }
    subscriptions_schedule(subscriptions);
}

/* All of them */

struct subscriptions *subscriptions_new(struct mcp_server *server)
{
    struct subscriptions *subscriptions = NEW(struct subscriptions);

    subscriptions->server = server;
    subscriptions->watcher.changed = subscriptions_on_changed;
    subscriptions->watcher.updated = subscriptions_on_updated;
    list_init(&subscriptions->peers);
    list_init(&subscriptions->listeners);
    ev_timer_init(&subscriptions->due, subscriptions_on_due, 0, 0);
    registry_watch(server->registry, &subscriptions->watcher);
    subscriptions->task_watcher.changed = subscriptions_on_task_changed;
    task_store_watch(server->tasks, &subscriptions->task_watcher);
    return subscriptions;
}

void subscriptions_free(struct subscriptions *subscriptions)
{
    if (!subscriptions)
        return;
    ev_timer_stop(subscriptions->server->loop, &subscriptions->due);
    task_store_unwatch(&subscriptions->task_watcher);
    registry_unwatch(&subscriptions->watcher);
    free(subscriptions);
}

/* Peers */

void subscriptions_add_peer(struct mcp_peer *peer)
{
    peer->subscriber.peer = peer;
    list_append(&peer->server->subscriptions->peers, &peer->subscriber.link);
}

void subscriptions_remove_peer(struct mcp_peer *peer)
{
    subscriber_deinit(&peer->subscriber);
}

void subscriptions_begin(struct mcp_peer *peer)
{
    subscriber_want_lists(&peer->subscriber);
}

void subscriptions_resume(struct mcp_peer *peer)
{
    subscriptions_schedule(peer->server->subscriptions);
}

/* The share of one principal. */
struct subscriptions_share {
    size_t subscribers;
    size_t resources;
};

static struct subscriptions_share subscriptions_count(const struct list *subscribers,
                                                      const struct principal *principal)
{
    struct subscriptions_share share = {0};

    LIST_FOR_EACH (subscribers, link) {
        const struct subscriber *subscriber = CONTAINER_OF(link, struct subscriber, link);

        if (subscriber->peer->caller->principal != principal)
            continue;
        share.subscribers++;
        share.resources += json_object_size(subscriber->resources);
    }
    return share;
}

/* Fails when the principal of PEER watches more than it may, on all its connections. */
static int subscriptions_check_share(const struct mcp_peer *peer, struct error *err)
{
    const struct subscriptions *subscriptions = peer->server->subscriptions;
    const struct principal *principal = peer->caller->principal;
    size_t watched = subscriptions_count(&subscriptions->peers, principal).resources +
                     subscriptions_count(&subscriptions->listeners, principal).resources;

    if (watched <= SUBSCRIPTIONS_RESOURCES_PER_PRINCIPAL)
        return 0;
    return error_set(err, ERROR_BUSY, "you watch %d resources already; give some up",
                     SUBSCRIPTIONS_RESOURCES_PER_PRINCIPAL);
}

enum outcome subscriptions_subscribe(struct mcp_request *request, json_t **ret, struct error *err)
{
    const char *uri;

    if (params_name(request->params, "uri", &uri, err) < 0 ||
        subscriber_add_resource(&request->peer->subscriber, uri, err) < 0)
        return OUTCOME_FAILED;
    if (subscriptions_check_share(request->peer, err) < 0) {
        json_object_del(request->peer->subscriber.resources, uri);
        return OUTCOME_FAILED;
    }
    *ret = json_object();
    return OUTCOME_READY;
}

enum outcome subscriptions_unsubscribe(struct mcp_request *request, json_t **ret, struct error *err)
{
    const char *uri;

    if (params_name(request->params, "uri", &uri, err) < 0)
        return OUTCOME_FAILED;
    json_object_del(request->peer->subscriber.resources, uri);
    *ret = json_object();
    return OUTCOME_READY;
}

/* Requests that listen */

static int read_id(struct subscriber *listener, struct error *err)
{
    listener->id = json_loads(listener->request->id, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (listener->id)
        return 0;
    return error_set(err, ERROR_INVALID_REQUEST, "the id is too long a number for a subscription");
}

static void subscriptions_on_cancel(struct mcp_request *request)
{
    subscriptions_forget(request);
}

static struct subscriber *subscriptions_listener_new(struct mcp_request *request)
{
    struct subscriber *listener = NEW(struct subscriber);
    struct subscriptions *subscriptions = request->peer->server->subscriptions;

    listener->peer = request->peer;
    listener->request = request;
    list_append(&subscriptions->listeners, &listener->link);
    subscriptions->listener_count++;
    request->listener = listener;
    request->cancel = subscriptions_on_cancel;
    return listener;
}

void subscriptions_forget(struct mcp_request *request)
{
    if (!request->listener)
        return;
    request->peer->server->subscriptions->listener_count--;
    subscriber_deinit(request->listener);
    free(request->listener);
    request->listener = NULL;
}

static int subscriptions_check_room(const struct mcp_peer *peer, struct error *err)
{
    const struct subscriptions *subscriptions = peer->server->subscriptions;
    const struct subscriptions_share own =
        subscriptions_count(&subscriptions->listeners, peer->caller->principal);

    if (own.subscribers >= SUBSCRIPTIONS_LISTENERS_PER_PRINCIPAL)
        return error_set(err, ERROR_BUSY, "%d requests of yours listen already; end some",
                         SUBSCRIPTIONS_LISTENERS_PER_PRINCIPAL);
    if (subscriptions->listener_count >= SUBSCRIPTIONS_LISTENERS)
        return error_set(err, ERROR_BUSY, "%d requests listen already; try again later",
                         SUBSCRIPTIONS_LISTENERS);
    return 0;
}

enum outcome subscriptions_listen(struct mcp_request *request, json_t **ret, struct error *err)
{
    struct subscriber *listener;
    json_t *honoured = NULL;

    (void)ret;
    if (subscriptions_check_room(request->peer, err) < 0)
        return OUTCOME_FAILED;
    listener = subscriptions_listener_new(request);
    if (read_id(listener, err) < 0 || subscriber_read_wishes(listener, &honoured, err) < 0)
        return OUTCOME_FAILED;
    if (subscriptions_check_share(request->peer, err) < 0) {
        json_decref(honoured);
        return OUTCOME_FAILED;
    }
    if (listener->tasks)
        subscriptions_schedule(request->peer->server->subscriptions);
    subscriber_send(listener, "notifications/subscriptions/acknowledged",
                    json_pack("{s:o}", "notifications", honoured));
    return OUTCOME_PENDING;
}

/* The end */

static void subscriptions_end_listener(const struct subscriber *listener)
{
    struct mcp_request *request = listener->request;
    json_t *result = result_finish(listener->peer->server, request->version, json_object());

    json_object_set(json_object_get(result, "_meta"), SUBSCRIBER_ID_KEY, listener->id);
    request->done(request, result, NULL);
}

static const struct subscriber *find_listener(const struct mcp_peer *peer)
{
    LIST_FOR_EACH (&peer->server->subscriptions->listeners, link) {
        const struct subscriber *listener = CONTAINER_OF(link, struct subscriber, link);

        if (listener->peer == peer)
            return listener;
    }
    return NULL;
}

void subscriptions_end(struct mcp_peer *peer)
{
    const struct subscriber *listener;

    while ((listener = find_listener(peer)))
        subscriptions_end_listener(listener);
}
