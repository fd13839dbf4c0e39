/* The containers of an environment that were started ahead of their script.
 *
 * The next call is expected to be like the last one, in the same directory with another script: a
 * container for it is started when no run has the environment, so not beside one. A run that finds
 * one which differs in nothing takes it, and it is not used again. Those of that directory for
 * other runs are removed then. Where calls come faster than a container starts, several wait, until
 * one of them has waited in vain. */
#pragma once

#include "base/list.h"

#include <ev.h>
#include <stdbool.h>

struct ahead_container;
struct docker_order;
struct docker_site;

struct ahead_pool {
    struct docker_site *site;  /* borrowed */
    struct list containers;    /* the one that was started last is the last */
    struct docker_order *next; /* owned: what is expected, or NULL */
    unsigned wanted;           /* so many for that one are to wait */
    bool is_repeated;          /* it is what was expected before, too */
    unsigned misses;           /* containers since the last that was taken */
    double closed_until;       /* monotonic seconds: one could not do its work */
    ev_timer rest;
};

void ahead_pool_init(struct ahead_pool *pool, struct docker_site *site);

/* Removes all of them; there are no more runs. */
void ahead_pool_stop(struct ahead_pool *pool);

/* The container for ORDER; NULL: there is none. Owned by the caller. */
struct ahead_container *ahead_pool_take(struct ahead_pool *pool, const struct docker_order *order);

/* A run of ORDER (taken) has ended: the next is expected to be like it. */
void ahead_pool_expect(struct ahead_pool *pool, struct docker_order *order);

/* One that was taken did not do its work: none is started for a while. */
void ahead_pool_close(struct ahead_pool *pool);

/* No run has the environment. */
void ahead_pool_rest(struct ahead_pool *pool);
