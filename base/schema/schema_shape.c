/* The shape that the value of each keyword must have. */
#include "base/memory.h"
#include "base/schema/schema_node.h"
#include "base/schema/schema_value.h"

#include <string.h>

#define DIALECT "https://json-schema.org/draft/2020-12/schema"

static bool is_any(const json_t *value)
{
    return value;
}

static bool is_boolean(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_string(const json_t *value)
{
    return json_is_string(value);
}

static bool schema_shape_is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool is_positive(const json_t *value)
{
    return json_number_value(value) > 0;
}

static bool is_count(const json_t *value)
{
    return schema_value_is_integer(value) && json_number_value(value) >= 0;
}

static bool is_array(const json_t *value)
{
    return json_is_array(value);
}

static bool is_list(const json_t *value)
{
    return json_array_size(value) > 0;
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static bool is_schema(const json_t *value)
{
    return json_is_object(value) || json_is_boolean(value);
}

static bool is_type_name(const json_t *value)
{
    static const char *const names[] = {"array",  "boolean", "integer", "null",
                                        "number", "object",  "string"};

    for (size_t i = 0; i < ARRAY_SIZE(names) && json_is_string(value); i++)
        if (strcmp(json_string_value(value), names[i]) == 0)
            return true;
    return false;
}

static bool all_items(const json_t *array, bool (*fits)(const json_t *))
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!fits(json_array_get(array, i)))
            return false;
    return json_is_array(array);
}

static bool schema_shape_is_type(const json_t *value)
{
    return is_type_name(value) || (is_list(value) && all_items(value, is_type_name));
}

static bool is_names(const json_t *value)
{
    return all_items(value, is_string);
}

static bool is_names_by_name(const json_t *value)
{
    const char *key;
    json_t *names;

    json_object_foreach ((json_t *)value, key, names)
        if (!is_names(names))
            return false;
    return json_is_object(value);
}

static bool is_identifier(const json_t *value)
{
    const char *fragment = json_is_string(value) ? strchr(json_string_value(value), '#') : NULL;

    return json_is_string(value) && (!fragment || !fragment[1]);
}

static bool is_anchor(const json_t *value)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    const char *text = json_is_string(value) ? json_string_value(value) : "";

    return *text && strchr(letters, *text) &&
           text[strspn(text, letters) + strspn(text + strspn(text, letters), "-.0123456789")] ==
               '\0';
}

static bool is_dialect(const json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";

    return strcmp(text, DIALECT) == 0 || strcmp(text, DIALECT "#") == 0;
}

static const struct {
    bool (*fits)(const json_t *value);
    const char *wanted;
} shapes[] = {
    [SCHEMA_SHAPE_ANY] = {is_any, "a value"},
    [SCHEMA_SHAPE_BOOLEAN] = {is_boolean, "boolean"},
    [SCHEMA_SHAPE_STRING] = {is_string, "string"},
    [SCHEMA_SHAPE_NUMBER] = {schema_shape_is_number, "number"},
    [SCHEMA_SHAPE_POSITIVE] = {is_positive, "a number more than 0"},
    [SCHEMA_SHAPE_COUNT] = {is_count, "an integer of at least 0"},
    [SCHEMA_SHAPE_ARRAY] = {is_array, "array"},
    [SCHEMA_SHAPE_TYPES] = {schema_shape_is_type, "the name of a type, or an array of them"},
    [SCHEMA_SHAPE_NAMES] = {is_names, "an array of strings"},
    [SCHEMA_SHAPE_NAMES_BY_NAME] = {is_names_by_name, "an object of arrays of strings"},
    [SCHEMA_SHAPE_PATTERN] = {is_string, "a regular expression"},
    [SCHEMA_SHAPE_SCHEMA] = {is_schema, "a schema (object or boolean)"},
    [SCHEMA_SHAPE_SCHEMAS] = {is_list, "an array of schemas"},
    [SCHEMA_SHAPE_SCHEMAS_BY_NAME] = {is_object, "an object of schemas"},
    [SCHEMA_SHAPE_SCHEMAS_BY_PATTERN] = {is_object, "an object of schemas"},
    [SCHEMA_SHAPE_REFERENCE] = {is_string, "a reference"},
    [SCHEMA_SHAPE_IDENTIFIER] = {is_identifier, "a URI without fragment"},
    [SCHEMA_SHAPE_ANCHOR] = {is_anchor, "a plain name"},
    [SCHEMA_SHAPE_DIALECT] = {is_dialect, "\"" DIALECT "\", the only dialect supported"},
};

bool schema_shape_fits(enum schema_shape shape, const json_t *value)
{
    return shapes[shape].fits(value);
}

const char *schema_shape_name(enum schema_shape shape)
{
    return shapes[shape].wanted;
}
