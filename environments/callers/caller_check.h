/* The rules for the values in a definition from a call that its schema cannot express. Private to
 * caller_rules.h. */
#pragma once

#include "base/schema/schema.h"
#include "environments/callers/caller_rules.h"
#include "environments/callers/image_reference.h"

#define CALLER_ARGUMENT "environment_definition"

struct definition_schema;
struct definition_schemas;

struct caller_rules {
    struct definition_schemas *schemas; /* owned */
    const json_t *allowed_images;       /* borrowed */
    const json_t *allowed_paths;        /* borrowed */
    struct image_reference *patterns;   /* owned; as many as there are allowed images */
    struct environment_settings settings;
};

/* One definition that is checked; everything is borrowed. */
struct caller_check {
    const struct caller_rules *rules;
    const struct definition_schema *schema; /* of its type */
    struct caller_definition *result;       /* so far */
    struct misfits misfits;
};

/* Reports an error of KEY. */
void caller_check_refuse(struct caller_check *check, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* VALUE of KEY fits its schema. Each function refuses it, or replaces it by its full form: a path
 * by the real path, an image by its full name. */
void caller_check_path(struct caller_check *check, const char *key, json_t *value);
void caller_check_executable(struct caller_check *check, const char *key, json_t *value);
void caller_check_new_path(struct caller_check *check, const char *key, json_t *value);
void caller_check_volumes(struct caller_check *check, const char *key, json_t *value);
void caller_check_image(struct caller_check *check, const char *key, json_t *value);
void caller_check_packages(struct caller_check *check, const char *key, json_t *value);
void caller_check_variables(struct caller_check *check, const char *key, json_t *value);
void caller_check_network(struct caller_check *check, const char *key, json_t *value);
void caller_check_time(struct caller_check *check, const char *key, json_t *value);
void caller_check_startup(struct caller_check *check, const char *key, json_t *value);
void caller_check_limits(struct caller_check *check, const char *key, json_t *value);
