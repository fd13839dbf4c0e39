/* How much a kept container has written into its root file system, in all its calls together. The
 * engine measures it, which may take it a while, so it is asked every second and, if its answers
 * take long, less often. */
#pragma once

#include "environments/engine/engine_request.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

struct docker_site;

struct kept_size {
    /* Inputs. EXCEEDED comes once, and the watch is over by then. */
    struct docker_site *site; /* borrowed */
    uint64_t limit;           /* bytes */
    void (*exceeded)(struct kept_size *size);

    /* Private. */
    char *path; /* owned: of the question; NULL: nothing is watched */
    ev_timer timer;
    struct engine_request request;
    double asked_at;    /* clock_seconds() */
    double finished_at; /* clock_seconds(); 0: a call runs. A later question ends the watch */
};

/* Watches the container with this ID, or goes on watching it. */
void kept_size_watch(struct kept_size *size, const char *id);

/* Nothing writes in the container any more: the next question is the last, unless a call comes
 * before. It is not asked at once: the engine would answer it while the next call's run is started.
 */
void kept_size_finish(struct kept_size *size);
void kept_size_end(struct kept_size *size);
