/* The rules for an environment that a call defines, within the limits of the operator.
 *
 * A call can set only the keys that caller_rules.c lists, and only to values that the operator
 * allows: images by pattern, paths by the directory that contains their real path, limits up to the
 * server's. All other keys are for the operator, including keys that are added to a schema later.
 */
#pragma once

#include "base/error.h"
#include "environments/environment.h"

#include <jansson.h>

struct caller_rules;

/* ALLOWED_IMAGES are patterns (see image_reference.h), ALLOWED_PATHS absolute paths of directories;
 * both are borrowed as long as the rules are. The limits and times of SETTINGS are the most that a
 * call may define. NULL with ERROR_CONFIG when *RET_INDEX of ALLOWED_IMAGES is no pattern. */
struct caller_rules *caller_rules_new(const json_t *allowed_images, const json_t *allowed_paths,
                                      const struct environment_settings *settings,
                                      size_t *ret_index, struct error *err);
void caller_rules_free(struct caller_rules *rules);

/* A checked definition from a call. */
struct caller_definition {
    json_t *definition; /* with all defaults, paths as they really are, images in full; owned */
    json_t *paths;      /* array of the paths in it; owned */
};

/* Checks WRITTEN, an object. -1 with ERROR_INVALID_ARGUMENTS, which lists every problem with the
 * rule that it breaks. */
int caller_rules_settle(const struct caller_rules *rules, const json_t *written,
                        struct caller_definition *ret, struct error *err);
void caller_definition_deinit(struct caller_definition *definition);

/* DEFINITION, which was settled, without the keys that only the operator sets and that settling has
 * added: so it can be settled again, by other rules. New reference. */
json_t *caller_rules_unsettle(const json_t *definition);

/* The default limits and times of a definition. */
const struct environment_settings *caller_rules_settings(const struct caller_rules *rules);

/* The schema of a definition for models: a flat object with the keys that they can use. It accepts
 * more than caller_rules_settle() does. HOST would run their scripts; or NULL. New reference. */
json_t *caller_rules_schema(const struct caller_rules *rules, struct process_host *host);
