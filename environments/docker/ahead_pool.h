/* The containers of an environment that were started ahead of their script.
 *
 * The next call is expected to be like the last one, in the same directory with another script: a
 * container for it is started when no run uses the environment. A run takes a container that was
 * described exactly as its own would be, and no other run uses that container. The other containers
 * of the directory are then removed if they differ. If calls come faster than a container starts,
 * several containers wait, until a container has waited in vain. */
#pragma once

#include "environments/process/waiting.h"

#include <jansson.h>
#include <stdbool.h>

struct ahead_container;
struct docker_order;

struct ahead_pool {
    struct waiting_room containers; /* owned */
    struct docker_order *next;      /* owned: the order that is expected, or NULL */
    struct expectation expectation; /* of this order */
    json_t *key;                    /* owned: of this order when containers were started last */
    bool is_repeated;               /* the order before it had the same directory */
    unsigned misses;                /* containers removed unused since the last was taken */
};

void ahead_pool_init(struct ahead_pool *pool);

/* Removes all of them; there are no more runs. */
void ahead_pool_stop(struct ahead_pool *pool);

/* A container for ORDER, owned by the caller; NULL if there is none. */
struct ahead_container *ahead_pool_take(struct ahead_pool *pool, const struct docker_order *order);

/* A run of ORDER (taken) has ended: the next is expected to be like it. */
void ahead_pool_expect(struct ahead_pool *pool, struct docker_order *order);

/* A container failed or printed too early: no further one is started for a while. */
void ahead_pool_close(struct ahead_pool *pool);

/* A script has run in a container of the pool. */
void ahead_pool_open(struct ahead_pool *pool);

/* No run uses the environment: containers may be started. */
void ahead_pool_rest(struct ahead_pool *pool);
