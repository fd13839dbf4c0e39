#include "server/mcp/subscriber.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/mcp/task_store.h"
#include "server/mcp/task_view.h"
#include "server/mcp/tasks.h"
#include "server/tools/caller.h"

#include <string.h>

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

void subscriber_send(struct subscriber *subscriber, const char *method, json_t *params)
{
    if (subscriber->request) {
        json_object_set_new(params, "_meta", json_pack("{s:O}", SUBSCRIBER_ID_KEY, subscriber->id));
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
            subscriber_send(subscriber, LISTS[i].method, json_object());
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
        subscriber_send(subscriber, "notifications/resources/updated",
                        json_pack("{s:s}", "uri", uri));
    }
}

/* Sends the present state of the task, if it still exists. */
static void tell_task(struct subscriber *listener, const char *id)
{
    const struct task *task = task_store_find(listener->peer->server->tasks, listener->request, id);

    if (task)
        subscriber_send(listener, "notifications/tasks", task_view_detailed(task));
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

void subscriber_tell(struct subscriber *subscriber)
{
    tell_lists(subscriber);
    tell_resources(subscriber);
    tell_tasks(subscriber);
}

/* Noting */

void subscriber_note_list(struct subscriber *subscriber, enum registry_kind kind)
{
    subscriber->pending |= subscriber->wanted & LIST_BITS[kind];
}

static void note_all_below(json_t *resources, const char *folder)
{
    size_t length = strlen(folder);
    const char *uri;
    json_t *is_pending;

    json_object_foreach (resources, uri, is_pending) {
        if (strncmp(uri, folder, length) == 0)
            json_object_set_new(resources, uri, json_true());
    }
}

static bool may_know(const struct subscriber *subscriber, const struct registry_update *update)
{
    return !update->principal ||
           strcmp(update->principal, subscriber->peer->caller->principal->name) == 0;
}

void subscriber_note_resource(struct subscriber *subscriber, const struct registry_update *update)
{
    size_t length = strlen(update->uri);

    if (!subscriber->resources || !may_know(subscriber, update))
        return;
    if (length > 0 && update->uri[length - 1] == '/')
        note_all_below(subscriber->resources, update->uri);
    else if (json_object_get(subscriber->resources, update->uri))
        json_object_set_new(subscriber->resources, update->uri, json_true());
}

void subscriber_note_task(struct subscriber *subscriber, const char *id)
{
    if (json_object_get(subscriber->tasks, id))
        json_object_set_new(subscriber->tasks, id, json_true());
}

/* Wanting */

void subscriber_want_lists(struct subscriber *subscriber)
{
    subscriber->wanted = 0;
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        if (capabilities_include(subscriber->peer->server, LISTS[i].capability))
            subscriber->wanted |= 1U << i;
    }
}

static int subscriber_check_room(const struct subscriber *subscriber, const char *uri,
                                 struct error *err)
{
    if (strlen(uri) > SUBSCRIPTIONS_URI_BYTES)
        return error_set(err, ERROR_INVALID_PARAMS, "a URI of more than %d bytes names no resource",
                         SUBSCRIPTIONS_URI_BYTES);
    if (json_object_size(subscriber->resources) < SUBSCRIPTIONS_RESOURCES)
        return 0;
    return error_set(err, ERROR_INVALID_PARAMS, "more than %d resources are watched",
                     SUBSCRIPTIONS_RESOURCES);
}

int subscriber_add_resource(struct subscriber *subscriber, const char *uri, struct error *err)
{
    if (json_object_get(subscriber->resources, uri))
        return 0;
    if (subscriber_check_room(subscriber, uri, err) < 0)
        return -1;
    if (!subscriber->resources)
        subscriber->resources = json_object();
    json_object_set_new(subscriber->resources, uri, json_false());
    return 0;
}

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
        if (subscriber_add_resource(listener, json_string_value(uri), err) < 0)
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

/* Unknown tasks are ignored. A task that does not work any more is told at once: it may have ended
 * before the client could listen. */
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
    return 0;
}

int subscriber_read_wishes(struct subscriber *listener, json_t **ret, struct error *err)
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

void subscriber_deinit(struct subscriber *subscriber)
{
    list_remove(&subscriber->link);
    json_decref(subscriber->tasks);
    json_decref(subscriber->resources);
    json_decref(subscriber->id);
    subscriber->tasks = NULL;
    subscriber->resources = NULL;
    subscriber->id = NULL;
}
