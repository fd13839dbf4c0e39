#include "environments/docker/ahead_pool.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "environments/docker/ahead_container.h"
#include "environments/docker/order.h"
#include "environments/docker/site.h"

#include <string.h>

enum { AHEAD_POOL_MISSES = 2 }; /* after that many only calls that are repeated count */

static struct ahead_container *ahead_pool_container(struct list *link)
{
    return CONTAINER_OF(link, struct ahead_container, waiting.link);
}

static void ahead_pool_drop(struct ahead_container *container)
{
    container->pool->misses++;
    ahead_container_free(container);
}

static void ahead_pool_end(struct waiting *waiting)
{
    ahead_pool_drop(CONTAINER_OF(waiting, struct ahead_container, waiting));
}

/* The engine may be away, or the container have waited for long enough. */
static void ahead_pool_on_over(struct ahead_container *container)
{
    if (container->has_printed)
        ahead_pool_close(container->pool);
    container->pool->expectation.wanted = 1;
    ahead_pool_drop(container);
}

/* Starts a container for the expected order, which the pool's key describes. */
static struct waiting *ahead_pool_make(struct expectation *expectation)
{
    struct ahead_pool *pool = CONTAINER_OF(expectation, struct ahead_pool, expectation);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    struct ahead_container *container =
        ahead_container_new(pool->next, json_incref(pool->key), &err);

    if (!container) {
        log_debug("no container ahead: %s", err.message);
        return NULL;
    }
    container->over = ahead_pool_on_over;
    container->pool = pool;
    return &container->waiting;
}

static const struct waiting_rules ahead_pool_rules = {
    .most = 8, .make = ahead_pool_make, .end = ahead_pool_end};

/* A run described by KEY came before a container for it was started. If such a run is expected,
 * more containers wait the next time. */
static void ahead_pool_note_early(struct ahead_pool *pool, const json_t *key)
{
    struct error ignored = ERROR_INIT;
    AUTO_JSON json_t *expected = docker_order_key(pool->next, &ignored);

    if (key && json_equal(expected, key))
        expectation_raise(&pool->expectation);
}

static bool ahead_pool_is_for(const struct ahead_container *container, const json_t *key)
{
    return key && json_equal(container->key, key);
}

/* The first container for KEY in DIRECTORY. Removes the containers of DIRECTORY for other keys. */
static struct ahead_container *ahead_pool_find(struct ahead_pool *pool, const char *directory,
                                               const json_t *key)
{
    struct ahead_container *found = NULL;

    LIST_FOR_EACH_SAFE (&pool->containers.list, link) {
        struct ahead_container *container = ahead_pool_container(link);

        if (strcmp(container->directory, directory) != 0)
            continue;
        if (!ahead_pool_is_for(container, key))
            ahead_pool_drop(container);
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
    waiting_withdraw(&found->waiting);
    pool->misses = 0;
    return found;
}

void ahead_pool_close(struct ahead_pool *pool)
{
    expectation_close(&pool->expectation, clock_seconds());
}

void ahead_pool_open(struct ahead_pool *pool)
{
    expectation_open(&pool->expectation);
}

/* Of the containers only those that the expected order could take are counted. */
static void ahead_pool_restock(struct ahead_pool *pool)
{
    struct error ignored = ERROR_INIT;

    json_decref(pool->key);
    pool->key = docker_order_key(pool->next, &ignored);
    if (!pool->key)
        return;
    LIST_FOR_EACH (&pool->containers.list, link) {
        struct ahead_container *container = ahead_pool_container(link);

        container->waiting.expectation =
            json_equal(container->key, pool->key) ? &pool->expectation : NULL;
    }
    (void)waiting_room_restock(&pool->containers, &pool->expectation, clock_seconds());
}

void ahead_pool_rest(struct ahead_pool *pool)
{
    if (pool->next && (pool->misses < AHEAD_POOL_MISSES || pool->is_repeated))
        ahead_pool_restock(pool);
}

void ahead_pool_init(struct ahead_pool *pool)
{
    pool->expectation.wanted = 1;
    waiting_room_init(&pool->containers, &ahead_pool_rules);
}

void ahead_pool_stop(struct ahead_pool *pool)
{
    LIST_FOR_EACH_SAFE (&pool->containers.list, link)
        ahead_container_free(ahead_pool_container(link));
    docker_order_free(pool->next);
    pool->next = NULL;
    json_decref(pool->key);
    pool->key = NULL;
}

void ahead_pool_expect(struct ahead_pool *pool, struct docker_order *order)
{
    pool->is_repeated =
        pool->next && strcmp(pool->next->request.directory, order->request.directory) == 0;
    docker_order_free(pool->next);
    pool->next = order;
}
