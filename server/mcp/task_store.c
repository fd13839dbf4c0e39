#include "server/mcp/task_store.h"

#include "base/clock.h"
#include "base/memory.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct task_store {
    struct ev_loop *loop; /* borrowed */
    struct list tasks;    /* of struct task, by number: owned */
    struct list watchers; /* of struct task_watcher */
    unsigned long last_number;
    struct ev_timer timer; /* running while there are tasks: the next look at them is due */
};

static struct task *task_store_entry_of(struct list *link)
{
    return CONTAINER_OF(link, struct task, link);
}

/* Time to live */

/* When TASK is due: its time is over then, or, while it works, half of it. */
static double next_look(const struct task *task)
{
    double end = task->began + task->ttl;

    return task->status == TASK_WORKING ? end - task->ttl_at_first / 2 : end;
}

static void task_store_look_at(struct task *task, double now)
{
    if (next_look(task) > now)
        return;
    if (task->status == TASK_WORKING)
        task->ttl += task->ttl_at_first / 2;
    else
        task_free(task);
}

static void task_store_rearm(struct task_store *store)
{
    double next = INFINITY;

    LIST_FOR_EACH (&store->tasks, link)
        next = fmin(next, next_look(task_store_entry_of(link)));
    ev_timer_stop(store->loop, &store->timer);
    if (!isfinite(next))
        return;
    ev_now_update(store->loop);
    ev_timer_set(&store->timer, fmax(next - clock_seconds(), 0), 0);
    ev_timer_start(store->loop, &store->timer);
}

static void task_store_on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct task_store *store = CONTAINER_OF(timer, struct task_store, timer);
    double now = clock_seconds();

    (void)loop;
    (void)events;
    LIST_FOR_EACH_SAFE (&store->tasks, link)
        task_store_look_at(task_store_entry_of(link), now);
    task_store_rearm(store);
}

/* Finding */

static bool is_known_to(const struct task *task, const struct mcp_request *request)
{
    return task->principal == request->peer->caller->principal &&
           mcp_version_is_modern(task->version) == mcp_version_is_modern(request->version);
}

struct task *task_store_find(const struct task_store *store, const struct mcp_request *request,
                             const char *id)
{
    LIST_FOR_EACH (&store->tasks, link) {
        if (strcmp(task_store_entry_of(link)->id, id) == 0 &&
            is_known_to(task_store_entry_of(link), request))
            return task_store_entry_of(link);
    }
    return NULL;
}

struct task *task_store_next(const struct task_store *store, const struct mcp_request *request,
                             unsigned long number)
{
    LIST_FOR_EACH (&store->tasks, link) {
        if (task_store_entry_of(link)->number > number &&
            is_known_to(task_store_entry_of(link), request))
            return task_store_entry_of(link);
    }
    return NULL;
}

/* Adding */

struct counts {
    unsigned all;
    unsigned own;
    unsigned at_work;
    size_t bytes;
    size_t own_bytes;
};

static struct counts task_store_count(const struct task_store *store,
                                      const struct principal *principal)
{
    struct counts counts = {0};

    LIST_FOR_EACH (&store->tasks, link) {
        const struct task *task = task_store_entry_of(link);
        bool is_own = task->principal == principal;

        counts.all++;
        counts.own += is_own;
        counts.at_work += is_own && !task_is_over(task);
        counts.bytes += task->bytes;
        counts.own_bytes += is_own ? task->bytes : 0;
    }
    return counts;
}

int task_store_admit(const struct task_store *store, const struct principal *principal,
                     struct error *err)
{
    const struct counts counts = task_store_count(store, principal);

    if (counts.at_work >= TASK_STORE_AT_WORK)
        return error_set(err, ERROR_BUSY, "too many running tasks, %u; wait for one of them",
                         counts.at_work);
    if (counts.own >= TASK_STORE_PER_PRINCIPAL ||
        counts.own_bytes >= TASK_STORE_BYTES_PER_PRINCIPAL || counts.all >= TASK_STORE_TASKS ||
        counts.bytes >= TASK_STORE_BYTES)
        return error_set(err, ERROR_BUSY,
                         "too many tasks are kept with what they ended with; try again later");
    return 0;
}

struct task *task_store_add(struct task_store *store, struct job *job, double ttl)
{
    struct task *task = task_new(store, job->server->replica, ++store->last_number, ttl);

    task_take(task, job);
    list_append(&store->tasks, &task->link);
    task_store_rearm(store);
    return task;
}

void task_store_forget(struct task_store *store, const struct mcp_peer *peer)
{
    LIST_FOR_EACH (&store->tasks, link) {
        if (task_store_entry_of(link)->peer == peer)
            task_store_entry_of(link)->peer = NULL;
    }
}

/* Watchers */

void task_store_watch(struct task_store *store, struct task_watcher *watcher)
{
    list_append(&store->watchers, &watcher->link);
}

void task_store_unwatch(struct task_watcher *watcher)
{
    list_remove(&watcher->link);
}

void task_store_tell(const struct task_store *store, const struct task *task)
{
    LIST_FOR_EACH_SAFE (&store->watchers, link) {
        struct task_watcher *watcher = CONTAINER_OF(link, struct task_watcher, link);

        watcher->changed(watcher, task);
    }
}

/* The store itself */

struct task_store *task_store_new(struct ev_loop *loop)
{
    struct task_store *store = NEW(struct task_store);

    store->loop = loop;
    list_init(&store->tasks);
    list_init(&store->watchers);
    ev_timer_init(&store->timer, task_store_on_timer, 0, 0);
    return store;
}

void task_store_stop(struct task_store *store)
{
    LIST_FOR_EACH (&store->tasks, link)
        task_cancel(task_store_entry_of(link));
}

void task_store_free(struct task_store *store)
{
    if (!store)
        return;
    LIST_FOR_EACH_SAFE (&store->tasks, link)
        task_free(task_store_entry_of(link));
    ev_timer_stop(store->loop, &store->timer);
    free(store);
}
