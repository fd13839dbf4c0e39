/* A definition in a call that adds packages to an environment of the configuration:
 *
 *     {"type": "venv", "extends": "science", "pip_packages": ["rich"]}
 *
 * The operator's definition counts for the rest: the Python with its packages, the reach of
 * scripts, limits. The settings that were read from it are copied, since scripts may have changed
 * what its paths lead to. */
#pragma once

#include "base/error.h"
#include "environments/environment_settings.h"

#include <jansson.h>

struct caller_rules;
struct environment;

#define EXTENSION_KEY "extends"

/* The definition that WRITTEN, from a call, makes of BASE. New reference, or NULL with
 * ERROR_INVALID_ARGUMENTS if BASE cannot be extended or RULES refuse the packages. */
json_t *extension_settle(const struct environment *base, const json_t *written,
                         const struct caller_rules *rules, struct error *err);

/* The definition that a call has written for ENVIRONMENT. Borrowed; NULL: it extends no other. */
const json_t *extension_written(const struct environment *environment);

/* The stricter policy of BASE and of RULES. */
enum approval_policy extension_approval(const struct environment *base,
                                        const struct caller_rules *rules);

/* Copies the settings of BASE for an environment that extends it, which starts cold. Owned by the
 * caller. */
struct environment_settings extension_settings(const struct environment *base,
                                               const struct caller_rules *rules);
