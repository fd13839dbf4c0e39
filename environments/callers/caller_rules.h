/* What a call may define: an environment of its own, within what the operator allows.
 *
 * A call chooses among the keys in which nothing can be reached that the operator has not named:
 * images by pattern, paths by the directory they really lead into, limits up to the server's. Every
 * other key is the operator's, one that is new in a schema, too. */
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

/* What an environment that a call defines is made from. */
struct caller_definition {
    json_t *definition; /* with all defaults, paths as they really are, images in full; owned */
    json_t *paths;      /* array of the paths in it; owned */
};

/* Checks WRITTEN, an object. -1 with ERROR_INVALID_ARGUMENTS, which names everything that is wrong,
 * and each time the rule that says so. */
int caller_rules_settle(const struct caller_rules *rules, const json_t *written,
                        struct caller_definition *ret, struct error *err);
void caller_definition_deinit(struct caller_definition *definition);

/* The limits and times that are used where a definition says nothing. */
const struct environment_settings *caller_rules_settings(const struct caller_rules *rules);

/* The schema of a definition as a model sees it: one flat object with the keys that it can use.
 * What is wrong with a definition is found by caller_rules_settle(). New reference. */
json_t *caller_rules_schema(const struct caller_rules *rules);
