/* What earlier servers have left in an engine: containers that carry our labels. One is removed
 * when its server is dead, or when its deadline has passed and it belongs to the same user.
 * Containers of others are never touched. Derived images are removed when no environment has
 * used them for long. */
#pragma once

#include "environments/engine/engine_request.h"

#include <ev.h>
#include <stdbool.h>
#include <time.h>

struct docker_site;
struct instance;

struct docker_sweep {
    struct docker_site *site; /* borrowed */
    struct engine_request request;
    ev_timer again;
    bool is_due;         /* the engine was away when it should have been swept */
    const char *used[2]; /* borrowed: tags of the images that the environment has now, or NULL */
};

void docker_sweep_init(struct docker_sweep *sweep, struct docker_site *site);

/* Sweeps now and every hour. */
void docker_sweep_begin(struct docker_sweep *sweep);

/* Sweeps now, between begin and stop. */
void docker_sweep_again(struct docker_sweep *sweep);

/* From now on the environment has the images with these tags, which are borrowed while it has
 * them; or NULL. */
void docker_sweep_spare(struct docker_sweep *sweep, const char *built, const char *installed);

/* The engine is there: sweeps if that is due. */
void docker_sweep_catch_up(struct docker_sweep *sweep);
void docker_sweep_stop(struct docker_sweep *sweep);

/* Whether container INDEX of LIST, what an engine says of all, is one too many of those that stay
 * to be looked at. For tests, as the next. */
bool docker_sweep_is_too_many(const json_t *list, size_t index);

/* Whether a container may be removed at NOW: DESCRIPTION is what the list of containers says of it.
 */
bool docker_sweep_judge(const json_t *description, const struct instance *instance, time_t now);
