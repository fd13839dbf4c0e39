/* Environments that are another one, their base, with more packages. A call defines one
 *
 *     {"type": "venv", "extends": "science", "pip_packages": ["rich"]}
 *
 * or has one made in an annex for its session. The definition of the base counts for the rest: the
 * Python with its packages, the reach of scripts, limits. The settings that were read from it are
 * copied, since scripts may have changed what its paths lead to. */
#pragma once

#include "base/error.h"
#include "environments/environment_settings.h"

#include <jansson.h>

struct caller_rules;
struct environment;
struct environment_recipe;

#define EXTENSION_KEY "extends"

/* -1 with ERROR_INVALID_ARGUMENTS if calls can add no packages to BASE. */
int extension_check(const struct environment *base, struct error *err);

/* The definition that WRITTEN, from a call, makes of BASE. New reference, or NULL with
 * ERROR_INVALID_ARGUMENTS if BASE takes no packages or RULES refuse these. */
json_t *extension_settle(const struct environment *base, const json_t *written,
                         const struct caller_rules *rules, struct error *err);

/* The definition that a call has written for ENVIRONMENT. Borrowed; NULL: it has written none that
 * extends another one. */
const json_t *extension_written(const struct environment *environment);

/* As extension_settle(), of BASE, which is prepared: the venv at VENV, a path in an annex, with
 * PACKAGES, an array of requirements that have been checked. */
json_t *extension_settle_annex(const struct environment *base, const json_t *packages,
                               const char *venv, struct error *err);

/* The stricter policy of BASE and of RULES. */
enum approval_policy extension_approval(const struct environment *base,
                                        const struct caller_rules *rules);

/* Copies the settings of BASE for an extension under RULES. Owned by the caller. */
struct environment_settings extension_settings(const struct environment *base,
                                               const struct caller_rules *rules);

/* The environment of RECIPE, with a definition and settings from here. It is held as BASE is. Owned
 * by the caller, or NULL with ERROR_INVALID_ARGUMENTS. */
struct environment *extension_new(const struct environment *base, struct environment_recipe *recipe,
                                  struct error *err);
