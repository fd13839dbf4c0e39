/* Tells which of our images are still wanted: for each image the time of a file in the state
 * directory says when an environment had it last. */
#pragma once

#include <stdbool.h>
#include <time.h>

/* STATE is the state directory, TAG a name of an image: "pyexecd:KEY". It is wanted from now on for
 * DOCKER_CACHE_SECONDS. */
void docker_cache_use(const char *state, const char *tag);

#define DOCKER_CACHE_SECONDS (30. * 86400)

/* False if no environment had the image for so long. True for an unknown image. */
bool docker_cache_is_wanted(const char *state, const char *tag, time_t now);

/* The image is removed. */
void docker_cache_forget(const char *state, const char *tag);
