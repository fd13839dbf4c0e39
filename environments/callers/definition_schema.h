/* The schemas of environments, schemas/environment.*.json, for definitions in calls: compiled once,
 * and described for models. */
#pragma once

#include "base/schema/schema.h"

#include <jansson.h>
#include <stdbool.h>

struct definition_schema; /* of one type */
struct definition_schemas;

struct definition_schemas *definition_schemas_new(void);
void definition_schemas_free(struct definition_schemas *schemas);

/* The schema of TYPE (may be NULL), borrowed; or NULL. */
const struct definition_schema *definition_schemas_find(const struct definition_schemas *schemas,
                                                        const char *type);

/* The types that have KEY, "venv or docker". Owned by the caller; NULL when there is none. */
char *definition_schemas_types(const struct definition_schemas *schemas, const char *key);

bool definition_schema_has(const struct definition_schema *schema, const char *key);

/* See schema_validate. */
bool definition_schema_validate(const struct definition_schema *schema, const json_t *definition,
                                schema_problem_fn report, void *data);

/* Adds the missing keys of DEFINITION that have a default. */
void definition_schema_complete(const struct definition_schema *schema, json_t *definition);

/* The default of KEY; borrowed, or NULL. */
const json_t *definition_schema_default(const struct definition_schema *schema, const char *key);

/* A short schema of KEY for models: the type of its value, and the first sentence of its
 * description. New reference. */
json_t *definition_schema_brief(const struct definition_schema *schema, const char *key);
