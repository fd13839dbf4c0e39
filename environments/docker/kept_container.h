/* Containers that are kept between calls, one for each working directory, with what scripts have
 * written and installed anywhere in them. The scripts of one directory take turns.
 *
 *     STARTING -> IDLE <-> BUSY -> ENDING
 *
 * One ends when a call was killed, or has left a process behind or no last words: whatever a script
 * did to it, the next call gets a new one. It ends by itself when it has been idle for a while, and
 * with the server: its pyexecd-init holds the other end of a connection of ours. */
#pragma once

#include "base/list.h"
#include "environments/docker/python.h"
#include "environments/execution.h"

#include <ev.h>
#include <stdbool.h>

struct docker_facts;
struct docker_site;

struct docker_kept {
    struct docker_site *site; /* borrowed */
    struct list containers;   /* owned; the one that was used last is the last */
    ev_timer look;            /* for those that have been idle for long */
};

void docker_kept_init(struct docker_kept *kept, struct docker_site *site);

/* The server has started. */
void docker_kept_begin(struct docker_kept *kept);

/* See environment_start. */
struct execution *docker_kept_start(struct docker_kept *kept, const struct docker_facts *image,
                                    const struct docker_python_facts *python,
                                    const struct execution_request *request,
                                    struct execution_listener *listener, struct error *err);

/* Removes all, in the background. Nothing may be executed any more. */
void docker_kept_stop(struct docker_kept *kept);
