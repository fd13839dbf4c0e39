/* A run that waits for its script in a kept container. Its pyexecd-init waits (engine/go.h): it is
 * mounted from the machine, so no script can have changed it. Its Python starts only when the
 * script comes, because Python loads files that earlier scripts may have left.
 *
 * It is started when nothing of a script lives in the container, and taken or sent away before the
 * next one begins. */
#pragma once

#include "environments/docker/output.h"
#include "environments/engine/exec.h"

#include <jansson.h>
#include <stdbool.h>

struct docker_site;

struct kept_wait {
    struct exec exec;            /* under way, or nothing waits */
    json_t *key;                 /* owned: its definition */
    struct docker_output output; /* mute: the engine prints only if it could not start the run */
    bool agreed;                 /* the engine passes input on to the init */
    double begun;                /* CLOCK_MONOTONIC seconds */
    double seconds;              /* from `begun` until the engine agreed */
};

/* Begins to start a waiting run in CONTAINER, an id; KEY is taken. */
void kept_wait_start(struct kept_wait *wait, const struct docker_site *site, const char *container,
                     json_t *key);

/* A run waits, or is being started. */
bool kept_wait_is_there(const struct kept_wait *wait);

/* The seconds that its start has taken so far. */
double kept_wait_seconds(const struct kept_wait *wait);

/* Moves the waiting run to TO, whose callbacks hear of it from now on, and its wire to OUTPUT. True
 * if it can be sent input already; else `agreed` of TO will come. */
bool kept_wait_take(struct kept_wait *wait, struct exec *to, struct docker_output *output);

/* Its container is removed. Harmless when no run waits. */
void kept_wait_stop(struct kept_wait *wait);
