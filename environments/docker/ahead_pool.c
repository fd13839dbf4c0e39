#include "environments/docker/ahead_pool.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "environments/docker/ahead_container.h"
#include "environments/docker/order.h"
#include "environments/docker/site.h"

#include <string.h>

#define AHEAD_POOL_REST_SECONDS  0.05 /* a client that makes one call has left by then */
#define AHEAD_POOL_CLOSE_SECONDS 60.

enum {
    AHEAD_POOL_MOST = 8,   /* the oldest goes for a new one */
    AHEAD_POOL_EQUAL = 4,  /* of one kind */
    AHEAD_POOL_MISSES = 2, /* after that many only calls that are repeated count */
};

static bool ahead_pool_is_for(const struct ahead_container *container, const json_t *key)
{
    return key && container->state <= AHEAD_CONTAINER_WAITING && json_equal(container->key, key);
}

static void ahead_pool_drop(struct ahead_pool *pool, struct ahead_container *container)
{
    pool->misses++;
    ahead_container_free(container);
}

/* A run described by KEY came before a container for it was started. If such a run is expected,
 * more containers wait the next time. */
static void ahead_pool_note_early(struct ahead_pool *pool, const json_t *key)
{
    struct error ignored = ERROR_INIT;
    AUTO_JSON json_t *expected = docker_order_key(pool->next, &ignored);

    if (pool->wanted < AHEAD_POOL_EQUAL && key && json_equal(expected, key))
        pool->wanted++;
}

/* The first container for KEY in DIRECTORY. Removes the containers of DIRECTORY for other keys. */
static struct ahead_container *ahead_pool_find(struct ahead_pool *pool, const char *directory,
                                               const json_t *key)
{
    struct ahead_container *found = NULL;

    LIST_FOR_EACH_SAFE (&pool->containers, link) {
        struct ahead_container *container = CONTAINER_OF(link, struct ahead_container, link);

        if (strcmp(container->directory, directory) != 0)
            continue;
        if (!ahead_pool_is_for(container, key))
            ahead_pool_drop(pool, container);
        else if (!found)
            found = container;
    }
    return found;
}

struct ahead_container *ahead_pool_take(struct ahead_pool *pool, const struct docker_order *order)
{
    struct error ignored = ERROR_INIT;
    struct ahead_container *found;
    AUTO_JSON json_t *key = NULL;

    if (!pool->next)
        return NULL;
    key = docker_order_key(order, &ignored);
    found = ahead_pool_find(pool, order->request.directory, key);
    if (!found) {
        ahead_pool_note_early(pool, key);
        return NULL;
    }
    list_remove(&found->link);
    pool->misses = 0;
    return found;
}

static unsigned ahead_pool_count(const struct ahead_pool *pool, const json_t *key)
{
    unsigned count = 0;

    LIST_FOR_EACH (&pool->containers, link)
        count += json_equal(CONTAINER_OF(link, struct ahead_container, link)->key, key);
    return count;
}

static void ahead_pool_make_room(struct ahead_pool *pool)
{
    unsigned count = 0;

    LIST_FOR_EACH (&pool->containers, link)
        count++;
    if (count >= AHEAD_POOL_MOST)
        ahead_pool_drop(pool, CONTAINER_OF(pool->containers.next, struct ahead_container, link));
}

void ahead_pool_close(struct ahead_pool *pool)
{
    pool->closed_until = clock_seconds() + AHEAD_POOL_CLOSE_SECONDS;
}

/* The engine may be away, or the container have waited for long enough. */
static void ahead_pool_on_over(struct ahead_container *container)
{
    if (container->has_printed)
        ahead_pool_close(container->pool);
    container->pool->wanted = 1;
    ahead_pool_drop(container->pool, container);
}

/* Starts a container for the expected order, which KEY describes. */
static void ahead_pool_add(struct ahead_pool *pool, json_t *key)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    struct ahead_container *container;

    ahead_pool_make_room(pool);
    container = ahead_container_new(pool->next, json_incref(key), &err);
    if (!container) {
        log_debug("no container ahead: %s", err.message);
        return;
    }
    container->over = ahead_pool_on_over;
    container->pool = pool;
    list_append(&pool->containers, &container->link);
}

static void ahead_pool_restock(struct ahead_pool *pool)
{
    struct error ignored = ERROR_INIT;
    AUTO_JSON json_t *key = docker_order_key(pool->next, &ignored);

    for (unsigned count = ahead_pool_count(pool, key); key && count < pool->wanted; count++)
        ahead_pool_add(pool, key);
}

static void ahead_pool_on_rest(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct ahead_pool *pool = CONTAINER_OF(timer, struct ahead_pool, rest);

    (void)loop;
    (void)events;
    if (pool->site->environment->users > 0 || clock_seconds() < pool->closed_until)
        return;
    if (pool->misses < AHEAD_POOL_MISSES || pool->is_repeated)
        ahead_pool_restock(pool);
}

void ahead_pool_init(struct ahead_pool *pool, struct docker_site *site)
{
    pool->site = site;
    pool->wanted = 1;
    list_init(&pool->containers);
    ev_timer_init(&pool->rest, ahead_pool_on_rest, AHEAD_POOL_REST_SECONDS, 0.);
}

void ahead_pool_stop(struct ahead_pool *pool)
{
    ev_timer_stop(pool->site->environment->loop, &pool->rest);
    LIST_FOR_EACH_SAFE (&pool->containers, link)
        ahead_container_free(CONTAINER_OF(link, struct ahead_container, link));
    docker_order_free(pool->next);
    pool->next = NULL;
}

void ahead_pool_expect(struct ahead_pool *pool, struct docker_order *order)
{
    pool->is_repeated =
        pool->next && strcmp(pool->next->request.directory, order->request.directory) == 0;
    docker_order_free(pool->next);
    pool->next = order;
}

/* A little later: the answer of the last run goes out first, and the client may be gone then. */
void ahead_pool_rest(struct ahead_pool *pool)
{
    if (!pool->next)
        return;
    ev_now_update(pool->site->environment->loop);
    ev_timer_stop(pool->site->environment->loop, &pool->rest);
    ev_timer_set(&pool->rest, AHEAD_POOL_REST_SECONDS, 0.);
    ev_timer_start(pool->site->environment->loop, &pool->rest);
}
