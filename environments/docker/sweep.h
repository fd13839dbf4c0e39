/* Removes containers that earlier servers have left in an engine. A container with our labels is
 * removed when its server is dead, or when its deadline has passed; containers of other users are
 * never touched. Derived images are removed when no environment has used them for long. */
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

/* Sweeps now, if between begin and stop. */
void docker_sweep_again(struct docker_sweep *sweep);

/* From now on the environment has the images with these tags, which are borrowed while it has
 * them; or NULL. */
void docker_sweep_spare(struct docker_sweep *sweep, const char *built, const char *installed);

/* The engine is reachable: sweeps if a sweep is due. */
void docker_sweep_catch_up(struct docker_sweep *sweep);
void docker_sweep_stop(struct docker_sweep *sweep);

/* Whether container INDEX of LIST, the engine's list, is removed because its client has too many
 * newer containers that stay to be looked at. For tests, like the next function. */
bool docker_sweep_is_too_many(const json_t *list, size_t index);

/* Whether a container may be removed at NOW: DESCRIPTION is its entry in the engine's list. */
bool docker_sweep_judge(const json_t *description, const struct instance *instance, time_t now);

/* Which of our images are still wanted: for each image the time of a file in the state directory
 * says when an environment had it last. For tests, too.
 *
 * STATE is the state directory, TAG a name of an image: "pyexecd:KEY". It is wanted from now on for
 * DOCKER_SWEEP_IMAGE_SECONDS. */
void docker_sweep_mark_image(const char *state, const char *tag);

#define DOCKER_SWEEP_IMAGE_SECONDS (30. * 86400)

/* False if no environment had the image for so long. True for an unknown image. */
bool docker_sweep_wants_image(const char *state, const char *tag, time_t now);

/* The image is removed. */
void docker_sweep_forget_image(const char *state, const char *tag);
