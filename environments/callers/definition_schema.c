#include "environments/callers/definition_schema.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/schema/schema.h"
#include "environments/kinds/kinds.h"
#include "schemas/schemas.h"

#include <stdlib.h>
#include <string.h>

struct definition_schema {
    const struct environment_kind *kind;
    json_t *document;      /* owned */
    struct schema *schema; /* owned */
};

struct definition_schemas {
    struct definition_schema *of; /* owned; one for each kind, in their order */
    size_t count;
};

/* The program's own schemas: that they compile is tested, so it cannot fail here. */
static void definition_schema_load(struct definition_schema *schema,
                                   const struct environment_kind *kind)
{
    AUTO_FREE char *name = memory_format("environment.%s", kind->name);
    struct error err = ERROR_INIT;

    schema->kind = kind;
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

    schemas->count = environment_kinds_count();
    schemas->of = memory_new(schemas->count, sizeof *schemas->of);
    for (size_t i = 0; i < schemas->count; i++)
        definition_schema_load(&schemas->of[i], environment_kinds_at(i));
    return schemas;
}

void definition_schemas_free(struct definition_schemas *schemas)
{
    if (!schemas)
        return;
    for (size_t i = 0; i < schemas->count; i++) {
        schema_free(schemas->of[i].schema);
        json_decref(schemas->of[i].document);
    }
    free(schemas->of);
    free(schemas);
}

const struct definition_schema *definition_schemas_find(const struct definition_schemas *schemas,
                                                        const char *type)
{
    for (size_t i = 0; type && i < schemas->count; i++)
        if (strcmp(schemas->of[i].kind->name, type) == 0)
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

    for (size_t i = 0; i < schemas->count; i++) {
        char *longer;

        if (!definition_schema_has(&schemas->of[i], key))
            continue;
        longer = memory_format("%s%s%s", types ? types : "", types ? " or " : "",
                               schemas->of[i].kind->name);
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

/* The keyword NAME of NODE. Borrowed, or NULL. */
static const json_t *definition_schema_keyword(const struct definition_schema *schema,
                                               const json_t *node, const char *name)
{
    return schema_document_keyword(schema->document, node, name);
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

/* The other sentences are for operators. */
static json_t *first_sentence(const char *text)
{
    const char *stop = strstr(text, ". ");

    return json_stringn(text, stop ? (size_t)(stop - text) + 1 : strlen(text));
}

/* Copies the type of the items or members, if it is simple. */
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
