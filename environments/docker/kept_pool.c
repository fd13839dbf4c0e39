#include "environments/docker/kept_pool.h"

#include "base/clock.h"
#include "base/json.h"
#include "environments/docker/kept_container.h"
#include "environments/docker/order.h"
#include "environments/docker/site.h"
#include "environments/interpreter/script_places.h"

#include <assert.h>

#define KEPT_POOL_IDLE_SECONDS 3600. /* after which nobody is expected to come back */
#define KEPT_POOL_LOOK_SECONDS 60.   /* between two looks for idle containers */

enum { KEPT_POOL_MOST = 16 }; /* then the container idle for longest makes room */

static struct kept_container *kept_pool_find(const struct kept_pool *pool, const char *directory)
{
    LIST_FOR_EACH (&pool->containers, link) {
        struct kept_container *container = CONTAINER_OF(link, struct kept_container, link);

        assert(link); /* says to clang-tidy that what is found is not NULL */
        if (kept_container_is_for(container, directory))
            return container;
    }
    return NULL;
}

static void kept_pool_make_room(struct kept_pool *pool)
{
    struct kept_container *oldest = NULL;
    size_t count = 0;

    LIST_FOR_EACH (&pool->containers, link) {
        struct kept_container *container = CONTAINER_OF(link, struct kept_container, link);

        count++;
        if (kept_container_is_idle(container) && (!oldest || container->used_at < oldest->used_at))
            oldest = container;
    }
    if (count >= KEPT_POOL_MOST && oldest)
        kept_container_free(oldest);
}

/* Which files scripts only read in their directory now. New reference. */
static json_t *kept_pool_identities(const struct kept_pool *pool)
{
    const struct script_places *kept = pool->site->environment->kept;
    json_t *identities = json_array();

    for (char *const *path = kept ? kept->paths : NULL; path && *path; path++)
        json_array_append_new(identities, docker_order_identity(*path));
    return identities;
}

/* A mount is gone once another file is renamed over the file below it. Scripts in the container
 * could write the new file. */
static bool kept_pool_holds_files(const struct kept_pool *pool,
                                  const struct kept_container *container)
{
    AUTO_JSON json_t *identities = kept_pool_identities(pool);

    return json_equal(identities, container->kept_files);
}

/* Begins to start a container for REQUEST, whose script READER may read. NULL with ERR. */
static struct kept_container *kept_pool_add(struct kept_pool *pool,
                                            const struct docker_facts *image,
                                            const struct execution_request *request,
                                            const uid_t *reader, struct error *err)
{
    AUTO_JSON json_t *mounts = NULL;
    struct kept_container *container;

    kept_pool_make_room(pool);
    mounts = docker_site_mounts(pool->site, request, err);
    if (!mounts)
        return NULL;
    container = kept_container_new(pool->site, request, reader, err);
    if (!container)
        return NULL;
    container->kept_files = kept_pool_identities(pool);
    list_append(&pool->containers, &container->link);
    kept_container_start(container, image, mounts);
    return container;
}

struct execution *kept_pool_start(struct kept_pool *pool, const struct docker_facts *image,
                                  const struct docker_python_facts *python,
                                  const struct execution_request *request, bool waits,
                                  struct execution_listener *listener, struct error *err)
{
    struct kept_container *container = kept_pool_find(pool, request->directory);
    const bool has_own_user = docker_site_has_own_user(pool->site, python->uid);

    if (container && !kept_container_is_idle(container)) {
        error_set(err, ERROR_BUSY, "the container of the working directory is in use");
        return NULL;
    }
    if (container && !(kept_container_lasts(container, request->timeout) &&
                       kept_pool_holds_files(pool, container))) {
        kept_container_free(container);
        container = NULL;
    }
    if (!container)
        container = kept_pool_add(pool, image, request, has_own_user ? &python->uid : NULL, err);
    if (!container)
        return NULL;
    container->waits &= waits;
    return kept_container_execute(container, python, request, listener, err);
}

static void kept_pool_on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct kept_pool *pool = CONTAINER_OF(timer, struct kept_pool, look);
    double now = clock_seconds();

    (void)loop;
    (void)events;
    LIST_FOR_EACH_SAFE (&pool->containers, link) {
        struct kept_container *container = CONTAINER_OF(link, struct kept_container, link);

        if (kept_container_is_idle(container) && container->used_at + KEPT_POOL_IDLE_SECONDS < now)
            kept_container_free(container);
    }
}

void kept_pool_rest(struct kept_pool *pool)
{
    LIST_FOR_EACH (&pool->containers, link)
        kept_container_rest(CONTAINER_OF(link, struct kept_container, link));
}

void kept_pool_init(struct kept_pool *pool, struct docker_site *site)
{
    pool->site = site;
    list_init(&pool->containers);
    ev_timer_init(&pool->look, kept_pool_on_look, KEPT_POOL_LOOK_SECONDS, KEPT_POOL_LOOK_SECONDS);
}

void kept_pool_begin(struct kept_pool *pool)
{
    ev_timer_start(pool->site->environment->loop, &pool->look);
}

void kept_pool_stop(struct kept_pool *pool)
{
    ev_timer_stop(pool->site->environment->loop, &pool->look);
    LIST_FOR_EACH_SAFE (&pool->containers, link) {
        struct kept_container *container = CONTAINER_OF(link, struct kept_container, link);

        if (!container->call)
            kept_container_free(container);
    }
}
