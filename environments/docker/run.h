/* One script in a container of its own, which is started for it, or was started ahead.
 *
 * Until the init of a container that was started ahead has answered, nothing has run. If it does
 * not, a container is started for the run. */
#pragma once

#include "environments/execution.h"

struct ahead_pool;
struct docker_order;

/* See environment_start. ORDER, made from REQUEST, is taken. */
struct execution *docker_run_start(struct docker_order *order,
                                   const struct execution_request *request,
                                   struct execution_listener *listener, struct error *err);

/* Starts the script in a container of POOL if there is one for ORDER, else as docker_run_start
 * does. The next run is expected to be like this one. */
struct execution *docker_run_start_ahead(struct ahead_pool *pool, struct docker_order *order,
                                         const struct execution_request *request,
                                         struct execution_listener *listener, struct error *err);
