#include "environments/callers/definition_schema.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "schemas/schemas.h"

#include <stdlib.h>
#include <string.h>

const char *const definition_types[] = {"system", "venv", "docker", NULL};

enum { TYPES = ARRAY_SIZE(definition_types) - 1 };

struct definition_schema {
    json_t *document;      /* owned */
    struct schema *schema; /* owned */
};

struct definition_schemas {
    struct definition_schema of[TYPES]; /* as in definition_types */
};

/* The program's own schemas: that they compile is tested, so it cannot fail here. */
static void definition_schema_load(struct definition_schema *schema, const char *type)
{
    AUTO_FREE char *name = memory_format("environment.%s", type);
    struct error err = ERROR_INIT;

    schema->document = json_loads(schemas_find(name), 0, NULL);
    schema->schema = schema_new(schema->document, &err);
    if (schema->schema)
        return;
    log_error("schemas/%s.json: %s", name, err.message);
    abort();
}

struct definition_schemas *definition_schemas_new(void)
{
    struct definition_schemas *schemas = NEW(struct definition_schemas);

    for (size_t i = 0; i < TYPES; i++)
        definition_schema_load(&schemas->of[i], definition_types[i]);
    return schemas;
}

void definition_schemas_free(struct definition_schemas *schemas)
{
    for (size_t i = 0; schemas && i < TYPES; i++) {
        schema_free(schemas->of[i].schema);
        json_decref(schemas->of[i].document);
    }
    free(schemas);
}

const struct definition_schema *definition_schemas_find(const struct definition_schemas *schemas,
                                                        const char *type)
{
    for (size_t i = 0; type && i < TYPES; i++)
        if (strcmp(definition_types[i], type) == 0)
            return &schemas->of[i];
    return NULL;
}

static const json_t *definition_schema_property(const struct definition_schema *schema,
                                                const char *key)
{
    return json_object_get(json_object_get(schema->document, "properties"), key);
}

bool definition_schema_has(const struct definition_schema *schema, const char *key)
{
    return definition_schema_property(schema, key);
}

char *definition_schemas_types(const struct definition_schemas *schemas, const char *key)
{
    char *types = NULL;

    for (size_t i = 0; i < TYPES; i++) {
        char *longer;

        if (!definition_schema_has(&schemas->of[i], key))
            continue;
        longer =
            memory_format("%s%s%s", types ? types : "", types ? " or " : "", definition_types[i]);
        free(types);
        types = longer;
    }
    return types;
}

bool definition_schema_validate(const struct definition_schema *schema, const json_t *definition,
                                schema_problem_fn report, void *data)
{
    return schema_validate(schema->schema, definition, report, data);
}

/* What NODE refers to, "#/..." without escapes, or NULL. Borrowed. */
static const json_t *definition_schema_referred(const json_t *document, const json_t *node)
{
    const char *reference = json_object_get_string(node, "$ref");

    if (!reference)
        return NULL;
    for (const char *part = strchr(reference, '/'); part; part = strchr(part, '/')) {
        AUTO_FREE char *key = memory_format("%.*s", (int)strcspn(part + 1, "/"), part + 1);

        document = json_object_get(document, key);
        part++;
    }
    return document;
}

/* KEYWORD of NODE, or of what it refers to. Borrowed, or NULL. */
static const json_t *definition_schema_keyword(const struct definition_schema *schema,
                                               const json_t *node, const char *name)
{
    const json_t *found = NULL;

    for (; node && !found; node = definition_schema_referred(schema->document, node))
        found = json_object_get(node, name);
    return found;
}

const json_t *definition_schema_default(const struct definition_schema *schema, const char *key)
{
    return definition_schema_keyword(schema, definition_schema_property(schema, key), "default");
}

void definition_schema_complete(const struct definition_schema *schema, json_t *definition)
{
    const char *key;
    json_t *node;

    json_object_foreach (json_object_get(schema->document, "properties"), key, node) {
        const json_t *fallback = definition_schema_keyword(schema, node, "default");

        if (fallback && !json_object_get(definition, key))
            json_object_set_new(definition, key, json_deep_copy(fallback));
    }
}

/* What follows is for operators. */
static json_t *first_sentence(const char *text)
{
    const char *stop = strstr(text, ". ");

    return json_stringn(text, stop ? (size_t)(stop - text) + 1 : strlen(text));
}

/* What an array or an object consists of, where that is simple. */
static void copy_parts(const struct definition_schema *schema, const json_t *node, json_t *brief)
{
    static const char *const kinds[] = {"items", "additionalProperties"};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        const json_t *part = definition_schema_keyword(schema, node, kinds[i]);
        const json_t *type = definition_schema_keyword(schema, part, "type");

        if (json_is_string(type))
            json_object_set_new(brief, kinds[i], json_pack("{s:O}", "type", type));
    }
}

json_t *definition_schema_brief(const struct definition_schema *schema, const char *key)
{
    const json_t *node = definition_schema_property(schema, key);
    json_t *brief = json_object();

    json_object_set(brief, "type", (json_t *)definition_schema_keyword(schema, node, "type"));
    if (definition_schema_keyword(schema, node, "enum"))
        json_object_set_new(brief, "enum",
                            json_deep_copy(definition_schema_keyword(schema, node, "enum")));
    copy_parts(schema, node, brief);
    json_object_set_new(
        brief, "description",
        first_sentence(json_string_value(definition_schema_keyword(schema, node, "description"))));
    return brief;
}
