/* The containers that are kept between calls: one for each working directory. The scripts of one
 * directory take turns.
 *
 * When no run has the environment, a run like the last one is started in each that is idle, and
 * waits there for its script (kept_run.h).
 *
 * A container goes when it has been idle for a while, when it would end by itself before the next
 * call does, and when a new one needs its place. */
#pragma once

#include "base/list.h"
#include "environments/docker/python.h"
#include "environments/execution.h"

#include <ev.h>

struct docker_facts;
struct docker_site;

struct kept_pool {
    struct docker_site *site; /* borrowed */
    struct list containers;   /* of struct kept_container; owned */
    ev_timer look;            /* for containers that have been idle for long */
};

void kept_pool_init(struct kept_pool *pool, struct docker_site *site);

/* The server has started. */
void kept_pool_begin(struct kept_pool *pool);

/* See environment_start. WAITS says whether the next run of an equal command may wait for its
 * script in the container. */
struct execution *kept_pool_start(struct kept_pool *pool, const struct docker_facts *image,
                                  const struct docker_python_facts *python,
                                  const struct execution_request *request, bool waits,
                                  struct execution_listener *listener, struct error *err);

/* No run uses the environment: runs may wait in the idle containers. */
void kept_pool_rest(struct kept_pool *pool);

/* Removes all containers, in the background. A container with a call, which has been killed, is
 * removed when the call ends. Nothing may be executed any more. */
void kept_pool_stop(struct kept_pool *pool);
