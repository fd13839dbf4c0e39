#include "server/tools/python/tool_signature.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/visible.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
    SIGNATURE_PARAMETERS = 12,
    SIGNATURE_NAME_BYTES = 64,
    SIGNATURE_VALUE_BYTES = 24, /* of a default or a choice, as JSON */
    SIGNATURE_CHOICES = 8,
    SIGNATURE_DEPTH = 3, /* of lists in lists */
};

void tool_signature_append_name(struct buffer *text, const char *name)
{
    for (; *name; name++)
        buffer_print(text, "%c",
                     isalnum((unsigned char)*name) && !((unsigned char)*name & 0x80) ? *name : '_');
}

static bool signature_is_keyword(const char *name)
{
    static const char *const words[] = {
        "False", "None",   "True",     "and",    "as",   "assert", "async",  "await",    "break",
        "class", "def",    "continue", "del",    "elif", "else",   "except", "finally",  "for",
        "from",  "global", "if",       "in",     "is",   "import", "lambda", "nonlocal", "not",
        "or",    "pass",   "raise",    "return", "try",  "while",  "with",   "yield",
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

/* True when NAME can be written before a "=" in a call. */
static bool signature_is_parameter(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return *name && strspn(name, letters) == strlen(name) && !isdigit((unsigned char)*name) &&
           strlen(name) <= SIGNATURE_NAME_BYTES && !signature_is_keyword(name);
}

/* VALUE as Python writes it. Owned by the caller; NULL: it is long, or no scalar. */
static char *signature_value(const json_t *value)
{
    AUTO_FREE char *json = NULL;

    if (json_is_true(value) || json_is_false(value))
        return memory_copy_string(json_is_true(value) ? "True" : "False");
    if (json_is_null(value))
        return memory_copy_string("None");
    if (!json_is_string(value) && !json_is_number(value))
        return NULL;
    json = json_dumps(value, JSON_ENCODE_ANY);
    return strlen(json) <= SIGNATURE_VALUE_BYTES
               ? visible_line(json, strlen(json), SIGNATURE_VALUE_BYTES)
               : NULL;
}

/* False: VALUES are not all short. */
static bool signature_append_choices(struct buffer *text, const json_t *values)
{
    const json_t *value;
    size_t i;

    json_array_foreach (values, i, value) {
        AUTO_FREE char *word = signature_value(value);

        if (!word)
            return false;
    }
    json_array_foreach (values, i, value) {
        AUTO_FREE char *word = signature_value(value);

        if (i == SIGNATURE_CHOICES) {
            buffer_print(text, " | ...");
            break;
        }
        buffer_print(text, "%s%s", i ? " | " : "", word);
    }
    return true;
}

static const char *signature_type_name(const char *type)
{
    static const char *const names[][2] = {
        {"string", "str"}, {"integer", "int"}, {"number", "float"}, {"boolean", "bool"},
        {"array", "list"}, {"object", "dict"}, {"null", "None"},
    };

    for (size_t i = 0; type && i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i][0], type) == 0)
            return names[i][1];
    return NULL;
}

/* One type, or several: "str | None". False: nothing is known. */
static bool signature_append_names(struct buffer *text, const json_t *types)
{
    const json_t *type;
    size_t i;

    if (json_is_string(types)) {
        const char *name = signature_type_name(json_string_value(types));

        buffer_print(text, "%s", name ? name : "Any");
        return true;
    }
    json_array_foreach (types, i, type) {
        const char *name = signature_type_name(json_string_value(type));

        buffer_print(text, "%s%s", i ? " | " : "", name ? name : "Any");
    }
    return json_array_size(types) > 0;
}

/* `list[str]`, where the schema has the type of the items. */
static void signature_append_type(struct buffer *text, const json_t *schema)
{
    const json_t *values = json_object_get(schema, "enum");
    unsigned depth = 0;

    while (depth < SIGNATURE_DEPTH && json_is_object(json_object_get(schema, "items"))) {
        buffer_print(text, "list[");
        schema = json_object_get(schema, "items");
        values = json_object_get(schema, "enum");
        depth++;
    }
    if (!(json_array_size(values) > 0 && signature_append_choices(text, values)) &&
        !signature_append_names(text, json_object_get(schema, "type")))
        buffer_print(text, "Any");
    while (depth-- > 0)
        buffer_print(text, "]");
}

static bool signature_requires(const json_t *schema, const char *name)
{
    const json_t *required;
    size_t i;

    json_array_foreach (json_object_get(schema, "required"), i, required)
        if (json_is_string(required) && strcmp(json_string_value(required), name) == 0)
            return true;
    return false;
}

static void signature_append_parameter(struct buffer *text, const char *name, const json_t *schema,
                                       bool is_required)
{
    const json_t *value = json_object_get(schema, "default");
    AUTO_FREE char *word = value ? signature_value(value) : NULL;

    buffer_print(text, "%s: ", name);
    signature_append_type(text, schema);
    if (!is_required)
        buffer_print(text, " = %s", word ? word : "None");
}

/* The required parameters, or the others. Returns how many there are now; MOST + 1:
 * more than are shown. */
static size_t signature_append_parameters(struct buffer *text, const json_t *schema,
                                          bool are_required, size_t count)
{
    const char *name;
    json_t *property;

    json_object_foreach (json_object_get(schema, "properties"), name, property) {
        if (signature_requires(schema, name) != are_required || count > SIGNATURE_PARAMETERS)
            continue;
        buffer_print(text, "%s", count ? ", " : "");
        if (count == SIGNATURE_PARAMETERS || !signature_is_parameter(name)) {
            buffer_print(text, "...");
            count = SIGNATURE_PARAMETERS + 1;
            continue;
        }
        signature_append_parameter(text, name, property, are_required);
        count++;
    }
    return count;
}

void tool_signature_append(struct buffer *text, const json_t *tool)
{
    const json_t *schema = json_object_get(tool, "inputSchema");
    const json_t *output = json_object_get(tool, "outputSchema");
    size_t count;

    tool_signature_append_name(text, json_object_get_string(tool, "server"));
    buffer_print(text, ".");
    tool_signature_append_name(text, json_object_get_string(tool, "name"));
    buffer_print(text, "(");
    count = signature_append_parameters(text, schema, true, 0);
    signature_append_parameters(text, schema, false, count);
    buffer_print(text, ")");
    if (json_is_object(output)) {
        buffer_print(text, " -> ");
        signature_append_type(text, output);
    }
}
