/* The program of a session in a container of its own, which lives as long as the session.
 *
 * The container is made and held like the container of a run. Its pyexecd-init takes cells from its
 * standard input and says when a cell has ended (engine/init/cell_relay.h). So a script cannot say
 * so, and the output between two such words is the output of a cell. */
#pragma once

#include "environments/execution.h"

struct docker_order;

/* Starts the program of ORDER (taken), whose `input` is borrowed during this call. `is_starting`
 * until the container runs. NULL with ERR. */
struct execution *docker_session_start(struct docker_order *order,
                                       struct execution_listener *listener, struct error *err);
