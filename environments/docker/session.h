/* The program of a session in a container of its own, which lives as long as the session.
 *
 * The container is made and held as that of a run. Its pyexecd-init takes cells from its standard
 * input and says when one has ended (engine/init/cell_relay.h). So it is never the script that says
 * so, and what comes between two such words is what the cell has printed. */
#pragma once

#include "environments/execution.h"

struct docker_order;

/* Starts the program of ORDER (taken), whose `input` is borrowed as long as this call.
 * `is_starting` until the container runs. NULL with ERR. */
struct execution *docker_session_start(struct docker_order *order,
                                       struct execution_listener *listener, struct error *err);
