/* Which of the images that were made here are still wanted: a file for each, in the state
 * directory, tells when an environment had it last. */
#pragma once

#include <stdbool.h>
#include <time.h>

/* STATE is the state directory, TAG a name of an image: "pyexecd:KEY". It is wanted from now on for
 * DOCKER_CACHE_SECONDS. */
void docker_cache_use(const char *state, const char *tag);

#define DOCKER_CACHE_SECONDS (30. * 86400)

/* False when no environment had it for so long. True for an image that nothing is known of. */
bool docker_cache_is_wanted(const char *state, const char *tag, time_t now);

/* The image is removed. */
void docker_cache_forget(const char *state, const char *tag);
