#include "server/mcp/subscriptions.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/mcp/task_store.h"
#include "server/mcp/task_view.h"
#include "server/mcp/tasks.h"
#include "server/tools/registry.h"

#include <ev.h>
#include <stdlib.h>

#define KEY_SUBSCRIPTION MCP_META_PREFIX "subscriptionId"

struct subscriptions {
    struct registry_watcher watcher;
    struct task_watcher task_watcher;
    struct mcp_server *server; /* borrowed: the owner */
    struct list peers;         /* of struct subscriber */
    struct list listeners;     /* likewise */
    size_t listener_count;
    struct ev_timer due; /* running while somebody is to be told something */
};

/* The lists that change. */
static const struct {
    enum capability capability; /* of the servers that have it */
    const char *wish;           /* the member of `notifications` that asks for it */
    const char *method;
} LISTS[] = {
    {CAPABILITY_TOOLS, "toolsListChanged", "notifications/tools/list_changed"},
    {CAPABILITY_PROMPTS, "promptsListChanged", "notifications/prompts/list_changed"},
    {CAPABILITY_RESOURCES, "resourcesListChanged", "notifications/resources/list_changed"},
};

/* Which of them an entry is in. */
static const unsigned LIST_BITS[REGISTRY_KINDS] = {
    [REGISTRY_TOOLS] = 1U << 0,
    [REGISTRY_PROMPTS] = 1U << 1,
    [REGISTRY_RESOURCES] = 1U << 2,
    [REGISTRY_TEMPLATES] = 1U << 2,
};

/* Telling */

static void subscriptions_send(struct subscriber *subscriber, const char *method,
                               json_t *params /* taken */)
{
    if (subscriber->request) {
        json_object_set_new(params, "_meta", json_pack("{s:O}", KEY_SUBSCRIPTION, subscriber->id));
        subscriber->request->notify(subscriber->request, method, params);
    } else {
        subscriber->peer->notify(subscriber->peer, method, params);
    }
}

static void tell_lists(struct subscriber *subscriber)
{
    unsigned pending = subscriber->pending;

    subscriber->pending = 0;
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        if (pending & 1U << i)
            subscriptions_send(subscriber, LISTS[i].method, json_object());
    }
}

static void tell_resources(struct subscriber *subscriber)
{
    const char *uri;
    json_t *is_pending;

    json_object_foreach (subscriber->resources, uri, is_pending) {
        if (!json_is_true(is_pending))
            continue;
        json_object_set_new(subscriber->resources, uri, json_false());
        subscriptions_send(subscriber, "notifications/resources/updated",
                           json_pack("{s:s}", "uri", uri));
    }
}

/* A task is told as it is by now, if it is still there. */
static void tell_task(struct subscriber *listener, const char *id)
{
    const struct task *task = task_store_find(listener->peer->server->tasks, listener->request, id);

    if (task)
        subscriptions_send(listener, "notifications/tasks", task_view_detailed(task));
}

static void tell_tasks(struct subscriber *subscriber)
{
    const char *id;
    json_t *is_pending;

    json_object_foreach (subscriber->tasks, id, is_pending) {
        if (!json_is_true(is_pending))
            continue;
        json_object_set_new(subscriber->tasks, id, json_false());
        tell_task(subscriber, id);
    }
}

static void tell_all(struct list *subscribers)
{
    LIST_FOR_EACH_SAFE (subscribers, link) {
        struct subscriber *subscriber = CONTAINER_OF(link, struct subscriber, link);

        if (subscriber->peer->slow)
            continue;
        tell_lists(subscriber);
        tell_resources(subscriber);
        tell_tasks(subscriber);
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

/* Has everybody told when the loop comes round. */
static void subscriptions_schedule(struct subscriptions *subscriptions)
{
    ev_timer_start(subscriptions->server->loop, &subscriptions->due);
}

/* Noting */

static void note_list(struct list *subscribers, unsigned bit)
{
    LIST_FOR_EACH (subscribers, link) {
        struct subscriber *subscriber = CONTAINER_OF(link, struct subscriber, link);

        subscriber->pending |= subscriber->wanted & bit;
    }
}

static void subscriptions_on_changed(struct registry_watcher *watcher, enum registry_kind kind)
{
    struct subscriptions *subscriptions = CONTAINER_OF(watcher, struct subscriptions, watcher);

    note_list(&subscriptions->peers, LIST_BITS[kind]);
    note_list(&subscriptions->listeners, LIST_BITS[kind]);
    subscriptions_schedule(subscriptions);
}

static void note_resource(struct list *subscribers, const char *uri)
{
    LIST_FOR_EACH (subscribers, link) {
        struct subscriber *subscriber = CONTAINER_OF(link, struct subscriber, link);

        if (json_object_get(subscriber->resources, uri))
            json_object_set_new(subscriber->resources, uri, json_true());
    }
}

static void subscriptions_on_updated(struct registry_watcher *watcher, const char *uri)
{
    struct subscriptions *subscriptions = CONTAINER_OF(watcher, struct subscriptions, watcher);

    note_resource(&subscriptions->peers, uri);
    note_resource(&subscriptions->listeners, uri);
    subscriptions_schedule(subscriptions);
}

static void subscriptions_on_task_changed(struct task_watcher *watcher, const struct task *task)
{
    struct subscriptions *subscriptions = CONTAINER_OF(watcher, struct subscriptions, task_watcher);

    LIST_FOR_EACH (&subscriptions->listeners, link) {
        struct subscriber *listener = CONTAINER_OF(link, struct subscriber, link);

        if (json_object_get(listener->tasks, task->id))
            json_object_set_new(listener->tasks, task->id, json_true());
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

static void subscriber_deinit(struct subscriber *subscriber)
{
    list_remove(&subscriber->link);
    json_decref(subscriber->tasks);
    json_decref(subscriber->resources);
    json_decref(subscriber->id);
    subscriber->tasks = NULL;
    subscriber->resources = NULL;
    subscriber->id = NULL;
}

static int subscriptions_check_room(const struct subscriber *subscriber, struct error *err)
{
    if (json_object_size(subscriber->resources) < SUBSCRIPTIONS_RESOURCES)
        return 0;
    return error_set(err, ERROR_INVALID_PARAMS, "more than %d resources are watched",
                     SUBSCRIPTIONS_RESOURCES);
}

static int add_resource(struct subscriber *subscriber, const char *uri, struct error *err)
{
    if (json_object_get(subscriber->resources, uri))
        return 0;
    if (subscriptions_check_room(subscriber, err) < 0)
        return -1;
    if (!subscriber->resources)
        subscriber->resources = json_object();
    json_object_set_new(subscriber->resources, uri, json_false());
    return 0;
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
    peer->subscriber.wanted = 0;
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        if (capabilities_include(peer->server, LISTS[i].capability))
            peer->subscriber.wanted |= 1U << i;
    }
}

void subscriptions_resume(struct mcp_peer *peer)
{
    subscriptions_schedule(peer->server->subscriptions);
}

enum outcome subscriptions_subscribe(struct mcp_request *request, json_t **ret, struct error *err)
{
    const char *uri;

    if (params_name(request->params, "uri", &uri, err) < 0 ||
        add_resource(&request->peer->subscriber, uri, err) < 0)
        return OUTCOME_FAILED;
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

static int read_lists(struct subscriber *listener, const json_t *wishes, json_t *honoured,
                      struct error *err)
{
    const struct mcp_server *server = listener->peer->server;

    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        json_t *wish = json_object_get(wishes, LISTS[i].wish);

        if (wish && !json_is_boolean(wish))
            return error_set(err, ERROR_INVALID_PARAMS, "notifications: %s must be a boolean",
                             LISTS[i].wish);
        if (!json_is_true(wish) || !capabilities_include(server, LISTS[i].capability))
            continue;
        listener->wanted |= 1U << i;
        json_object_set(honoured, LISTS[i].wish, wish);
    }
    return 0;
}

static int read_resources(struct subscriber *listener, const json_t *wishes, json_t *honoured,
                          struct error *err)
{
    json_t *uris = json_object_get(wishes, "resourceSubscriptions");
    json_t *uri;
    size_t i;

    if (uris && !json_is_array(uris))
        return error_set(err, ERROR_INVALID_PARAMS,
                         "notifications: resourceSubscriptions must be an array");
    if (!uris || !capabilities_include(listener->peer->server, CAPABILITY_RESOURCES))
        return 0;
    json_array_foreach (uris, i, uri) {
        if (!json_is_string(uri))
            return error_set(err, ERROR_INVALID_PARAMS,
                             "notifications: resourceSubscriptions must be strings");
        if (add_resource(listener, json_string_value(uri), err) < 0)
            return -1;
    }
    json_object_set(honoured, "resourceSubscriptions", uris);
    return 0;
}

static int check_tasks(struct subscriber *listener, const json_t *ids, struct error *err)
{
    json_t *id;
    size_t i;

    if (tasks_check_extension(listener->request, err) < 0)
        return -1;
    if (!json_is_array(ids))
        return error_set(err, ERROR_INVALID_PARAMS, "notifications: taskIds must be an array");
    json_array_foreach (ids, i, id) {
        if (!json_is_string(id))
            return error_set(err, ERROR_INVALID_PARAMS, "notifications: taskIds must be strings");
    }
    return 0;
}

/* Those that are there. What is not at work any more is told at once: it may have ended before
 * anybody could listen. */
static int read_tasks(struct subscriber *listener, const json_t *wishes, json_t *honoured,
                      struct error *err)
{
    const json_t *ids = json_object_get(wishes, "taskIds");
    json_t *known;
    json_t *id;
    size_t i;

    if (!ids)
        return 0;
    if (check_tasks(listener, ids, err) < 0)
        return -1;
    listener->tasks = json_object();
    known = json_array();
    json_array_foreach (ids, i, id) {
        const struct task *task = task_store_find(listener->peer->server->tasks, listener->request,
                                                  json_string_value(id));

        if (!task || json_object_get(listener->tasks, task->id))
            continue;
        json_object_set_new(listener->tasks, task->id, json_boolean(task->status != TASK_WORKING));
        json_array_append(known, id);
    }
    json_object_set_new(honoured, "taskIds", known);
    subscriptions_schedule(listener->peer->server->subscriptions);
    return 0;
}

/* What LISTENER wants, by its request; *RET is what of it is there to be had. */
static int read_wishes(struct subscriber *listener, json_t **ret, struct error *err)
{
    const json_t *wishes = json_object_get(listener->request->params, "notifications");
    AUTO_JSON json_t *honoured = json_object();

    if (!json_is_object(wishes))
        return error_set(err, ERROR_INVALID_PARAMS, "notifications must be there and be an object");
    if (read_lists(listener, wishes, honoured, err) < 0 ||
        read_resources(listener, wishes, honoured, err) < 0 ||
        read_tasks(listener, wishes, honoured, err) < 0)
        return -1;
    *ret = STEAL_PTR(honoured);
    return 0;
}

static int read_id(struct subscriber *listener, struct error *err)
{
    listener->id = json_loads(listener->request->id, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (listener->id)
        return 0;
    return error_set(err, ERROR_INVALID_REQUEST,
                     "a subscription goes by its id, and this one is too long a number");
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

enum outcome subscriptions_listen(struct mcp_request *request, json_t **ret, struct error *err)
{
    struct subscriber *listener;
    json_t *honoured = NULL;

    (void)ret;
    if (request->peer->server->subscriptions->listener_count >= SUBSCRIPTIONS_LISTENERS)
        return error_set(err, ERROR_BUSY, "%d requests listen already; try again later",
                         SUBSCRIPTIONS_LISTENERS);
    listener = subscriptions_listener_new(request);
    if (read_id(listener, err) < 0 || read_wishes(listener, &honoured, err) < 0)
        return OUTCOME_FAILED;
    subscriptions_send(listener, "notifications/subscriptions/acknowledged",
                       json_pack("{s:o}", "notifications", honoured));
    return OUTCOME_PENDING;
}

/* The end */

static void subscriptions_end_listener(const struct subscriber *listener)
{
    struct mcp_request *request = listener->request;
    json_t *result = result_finish(listener->peer->server, request->version, json_object());

    json_object_set(json_object_get(result, "_meta"), KEY_SUBSCRIPTION, listener->id);
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
