/* Something of an engine that is removed without anybody waiting for it. */
#pragma once

#include "environments/engine/engine.h"

/* Sends a DELETE for PATH ("/containers/ID?force=1&v=1"), again and again while the engine fails,
 * until it is gone or ENGINE_CLEAN_UP_SECONDS have passed. engine_is_idle counts it. */
void engine_discard(struct engine *engine, const char *path);

/* The same for the container of this NAME or id, killed first, and its anonymous volumes. */
void engine_discard_container(struct engine *engine, const char *name);
