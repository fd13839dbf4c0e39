#include "base/protocol/tool_headers.h"

#include "base/json.h"

#include <string.h>
#include <strings.h>

#define KEYWORD "x-mcp-header"

static const char TOKEN_CHARACTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789!#$%&'*+-.^_`|~";

/* A schema inside of the input schema, and the way to it. */
struct place {
    const json_t *schema;
    const json_t *path; /* keys from the root; NULL: not reached by properties alone */
};

static bool is_one_of(const char *text, const char *const *texts)
{
    for (; *texts; texts++) {
        if (strcmp(text, *texts) == 0)
            return true;
    }
    return false;
}

/* Checks one annotation. */

static int tool_headers_check_name(const json_t *name, const json_t *found, struct error *err)
{
    const char *text = json_string_value(name);
    json_t *other;
    size_t i;

    if (!text || !*text || strspn(text, TOKEN_CHARACTERS) != json_string_length(name))
        return error_set(err, ERROR_CONFIG, KEYWORD " must be the name of a header field");
    json_array_foreach (found, i, other) {
        if (strcasecmp(json_string_value(json_array_get(other, 0)), text) == 0)
            return error_set(err, ERROR_CONFIG, KEYWORD " \"%s\" is there twice", text);
    }
    return 0;
}

static int check_annotation(const struct place *place, const json_t *found, struct error *err)
{
    static const char *const TYPES[] = {"string", "integer", "boolean", NULL};
    const char *type = json_object_get_string(place->schema, "type");

    if (!place->path || json_array_size(place->path) == 0)
        return error_set(err, ERROR_CONFIG, KEYWORD " is only for properties of properties");
    if (!type || !is_one_of(type, TYPES))
        return error_set(err, ERROR_CONFIG, KEYWORD " is only for a string, integer or boolean");
    return tool_headers_check_name(json_object_get(place->schema, KEYWORD), found, err);
}

/* Goes through all of a schema. */

static int tool_headers_visit(const struct place *place, json_t *found, struct error *err);

/* Visits the schemas in VALUE, which is the member KEY of the schema at PLACE. */
static int visit_part(const struct place *place, const char *key, const json_t *value,
                      json_t *found, struct error *err)
{
    bool is_property = strcmp(key, "properties") == 0;
    const struct place beyond = {.schema = value};
    const char *name;
    json_t *schema;

    if (!is_property)
        return tool_headers_visit(&beyond, found, err);
    json_object_foreach ((json_t *)value, name, schema) {
        AUTO_JSON json_t *path = place->path ? json_copy((json_t *)place->path) : NULL;
        const struct place inside = {.schema = schema, .path = path};

        if (path)
            json_array_append_new(path, json_string(name));
        if (tool_headers_visit(&inside, found, err) < 0)
            return -1;
    }
    return 0;
}

static int visit_elements(const json_t *array, json_t *found, struct error *err)
{
    const json_t *element;
    size_t i;

    json_array_foreach (array, i, element) {
        const struct place place = {.schema = element};

        if (tool_headers_visit(&place, found, err) < 0)
            return -1;
    }
    return 0;
}

static void tool_headers_note(const struct place *place, json_t *found)
{
    json_t *entry = json_array();

    json_array_append(entry, json_object_get(place->schema, KEYWORD));
    json_array_extend(entry, (json_t *)place->path);
    json_array_append_new(found, entry);
}

/* Data is skipped, even if it looks like a schema. */
static int tool_headers_visit(const struct place *place, json_t *found, struct error *err)
{
    static const char *const DATA[] = {"default", "examples", "const", "enum", KEYWORD, NULL};
    const char *key;
    json_t *value;

    if (json_is_array(place->schema))
        return visit_elements(place->schema, found, err);
    if (json_object_get(place->schema, KEYWORD)) {
        if (check_annotation(place, found, err) < 0)
            return -1;
        tool_headers_note(place, found);
    }
    json_object_foreach ((json_t *)place->schema, key, value) {
        if (!is_one_of(key, DATA) && visit_part(place, key, value, found, err) < 0)
            return -1;
    }
    return 0;
}

int tool_headers_read(const json_t *schema, json_t **ret, struct error *err)
{
    AUTO_JSON json_t *found = json_array();
    AUTO_JSON json_t *path = json_array();
    const struct place root = {.schema = schema, .path = path};

    if (tool_headers_visit(&root, found, err) < 0)
        return -1;
    *ret = json_array_size(found) > 0 ? json_incref(found) : NULL;
    return 0;
}
