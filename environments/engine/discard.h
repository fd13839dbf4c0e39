/* Removal of containers and images in the background, without an owner. */
#pragma once

#include "environments/engine/engine.h"

/* Sends a DELETE for PATH ("/containers/ID?force=1&v=1"), again and again while the engine fails,
 * until the object is gone or ENGINE_CLEAN_UP_SECONDS have passed. engine_is_idle counts it. */
void engine_discard(struct engine *engine, const char *path);

/* Kills the container with this NAME or id, and discards it with its anonymous volumes. */
void engine_discard_container(struct engine *engine, const char *name);
