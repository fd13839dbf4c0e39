/* The environments of this server by name, made from their definitions, and environments that calls
 * have defined (see shelf.h). */
#pragma once

#include "environments/environment.h"

#include <jansson.h>

#define CATALOG_DEFINED_NAME "inline" /* of each environment that a call has defined */

struct caller_rules;
struct catalog;
struct nodes;

/* The surroundings that environments need to run; borrowed. All NULL for a catalog that runs
 * nothing. */
struct catalog_settings {
    struct ev_loop *loop;
    struct process_host *host;
    const char *state; /* an absolute path: where environments keep files that outlive the server */
    const struct instance *instance;
    const char *container_init; /* an absolute path; see environment_recipe */
    const char *proxy;          /* an absolute path: pyexecd-proxy (egress/egress.h) */
    struct nodes *nodes;        /* see environment_recipe */
    const char *directory;      /* where all scripts work, a real path; NULL: in places of ours */
};

struct catalog *catalog_new(const struct catalog_settings *settings);

/* The settings of CATALOG, borrowed: for a catalog that is to replace it. */
const struct catalog_settings *catalog_settings(const struct catalog *catalog);

/* From now on all scripts work in DIRECTORY, a real path. */
void catalog_work_in(struct catalog *catalog, const char *directory);

/* Scripts only read PATHS, NULL-terminated or NULL, which lie directly in that directory. They take
 * the place of earlier ones. */
void catalog_protect(struct catalog *catalog, const char *const *paths);

/* A path that is protected from scripts of NEXT, but not in CATALOG; or NULL. Borrowed. */
const char *catalog_find_unkept(const struct catalog *catalog, const struct catalog *next);

/* No environment that a call defines can change PATHS, real ones, which the server executes or
 * reads, or which lead there; nor what lies below FOLDERS. They are taken, and take the place of
 * earlier ones. */
void catalog_guard(struct catalog *catalog, struct script_places *paths,
                   struct script_places *folders);

/* The server has started; see environment_begin. */
void catalog_begin(struct catalog *catalog);

/* CATALOG, which has begun, asks the Pythons of its environments for their versions and packages,
 * which models are told, and again when environments are replaced. LEARNED is called with DATA when
 * the facts of an environment have changed. */
void catalog_survey(struct catalog *catalog, void (*learned)(void *data), void *data);

/* Cancels preparations, and releases what environments keep between runs. There are no more runs.
 */
void catalog_stop(struct catalog *catalog);
bool catalog_is_idle(const struct catalog *catalog);

/* Frees an idle catalog. */
void catalog_free(struct catalog *catalog);

/* Adds the environment NAME from DEFINITION, which has passed schemas/environment.*.json. SETTINGS
 * are the defaults that the definition may narrow. On failure ERR says why and *RET_KEY (static
 * storage, may be NULL) which key of the definition is to blame. */
int catalog_add(struct catalog *catalog, const char *name, const json_t *definition,
                const struct environment_settings *defaults, const char **ret_key,
                struct error *err);

/* The last environment has been added. Environments that meet are kept apart (exposure.h). */
void catalog_complete(struct catalog *catalog);

/* CATALOG, which has begun, gets the environments of NEXT (taken). Environments with the same
 * definition and settings as before stay, with their preparations; new environments begin.
 * Environments that are replaced are freed when no run uses them any more. */
void catalog_replace(struct catalog *catalog, struct catalog *next);

/* Borrowed, or NULL. */
struct environment *catalog_find(const struct catalog *catalog, const char *name);

/* The environments in the order they were added, by index. Borrowed. */
size_t catalog_count(const struct catalog *catalog);
struct environment *catalog_at(const struct catalog *catalog, size_t index);

/* The environment for DEFINITION, an object from a call of OWNER, a principal: the same one for the
 * same definition, as long as it is kept. Borrowed until the loop goes on, or as long as a run
 * holds it. NULL with ERROR_INVALID_ARGUMENTS, or with ERROR_BUSY when too many are in use. */
struct environment *catalog_define(struct catalog *catalog, const char *owner,
                                   const json_t *definition, const struct caller_rules *rules,
                                   struct error *err);

/* Makes an extension (extension.h) of the prepared BASE under RULES, for the virtual environment at
 * VENV, a path in an annex, with PACKAGES, an array of requirements. Its preparation makes the venv
 * aside, and puts it in place of an older one when it is whole. The caller is the user of the
 * extension, which is gone when he releases it. NULL with ERROR_INVALID_ARGUMENTS. */
struct environment *catalog_extend_session(struct catalog *catalog, const struct environment *base,
                                           const char *venv, const json_t *packages,
                                           const struct caller_rules *rules, struct error *err);

/* True if a call has defined ENVIRONMENT, which a run holds. */
bool catalog_has_defined(const struct catalog *catalog, const struct environment *environment);

/* RULES and the environment that ENVIRONMENT, which a call has defined, extends say today whether a
 * person is to be asked before code goes on there. -1 with ERROR_INVALID_ARGUMENTS where that
 * environment is gone. */
int catalog_judge(const struct catalog *catalog, const struct environment *environment,
                  const struct caller_rules *rules, enum approval_policy *ret, struct error *err);

/* The environment for the definition of ENVIRONMENT, which a call has defined, as catalog_define()
 * makes it under RULES. */
struct environment *catalog_redefine(struct catalog *catalog, const char *owner,
                                     const struct environment *environment,
                                     const struct caller_rules *rules, struct error *err);
