/* What the operator lets callers define for themselves. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct config;

struct callers {
    bool define_environments;     /* a call may define the environment that it runs in */
    const json_t *allowed_images; /* borrowed: array of patterns, `*` for any characters */
    const json_t *allowed_paths;  /* borrowed: array of absolute paths of directories */
};

/* As CONFIG, which has no errors, says; it is borrowed. ADDRESSES, NULL-terminated, are those that
 * are really served, whether CONFIG or the command line has named them: where CONFIG does not say
 * so, only the client that started this program over stdio may define environments. */
struct callers callers_read(const struct config *config, const char *const *addresses);
