#include "server/tools/lenient_arguments.h"

#include "base/json.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

/* Values in a text were not counted when the message was read; so many bytes have few enough. */
enum { LENIENT_TEXT_BYTES = 256 * 1024 };

static bool lenient_arguments_need(const json_t *schema, const char *key)
{
    const json_t *name;
    size_t i;

    json_array_foreach (json_object_get(schema, "required"), i, name)
        if (strcmp(json_string_value(name), key) == 0)
            return true;
    return false;
}

static bool lenient_argument_is_empty(const json_t *value)
{
    return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static bool lenient_argument_is(const json_t *value, const char *type)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return strcmp(type, "object") == 0;
    case JSON_ARRAY:
        return strcmp(type, "array") == 0;
    case JSON_INTEGER:
        return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
    case JSON_REAL:
        return strcmp(type, "number") == 0;
    case JSON_TRUE:
    case JSON_FALSE:
        return strcmp(type, "boolean") == 0;
    default:
        return false;
    }
}

/* True for a mapping from path to text where PART wants a list of files. */
static bool lenient_argument_is_texts(const json_t *value, const json_t *part)
{
    const json_t *item = json_object_get(json_object_get(part, "items"), "properties");

    return json_is_object(value) && json_object_get(item, "path") && json_object_get(item, "text");
}

/* What TEXT is as JSON that fits PART, the schema of its property; else NULL. New reference. */
static json_t *lenient_argument_parse(const json_t *text, const json_t *part)
{
    const char *type = json_object_get_string(part, "type");
    json_t *value;

    if (!json_is_string(text) || json_string_length(text) > LENIENT_TEXT_BYTES || !type ||
        strcmp(type, "string") == 0)
        return NULL;
    value = json_loadb(json_string_value(text), json_string_length(text),
                       JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (value && (lenient_argument_is(value, type) || lenient_argument_is_texts(value, part)))
        return value;
    json_decref(value);
    return NULL;
}

/* New reference. */
static json_t *lenient_argument_list_files(json_t *texts)
{
    json_t *ret = json_array();
    const char *path;
    json_t *text;

    json_object_foreach (texts, path, text)
        json_array_append_new(ret, json_pack("{s:s, s:O}", "path", path, "text", text));
    return ret;
}

/* VALUE as PART, the schema of its property or NULL, wants it. New reference. */
static json_t *lenient_argument_read(json_t *value, const json_t *part)
{
    AUTO_JSON json_t *parsed = lenient_argument_parse(value, part);
    json_t *meant = parsed ? parsed : value;

    if (lenient_argument_is_texts(meant, part))
        return lenient_argument_list_files(meant);
    if (json_is_object(meant) && json_object_get(part, "properties"))
        return lenient_arguments_read(meant, part);
    return json_incref(meant);
}

json_t *lenient_arguments_read(json_t *arguments, const json_t *schema)
{
    const json_t *properties = json_object_get(schema, "properties");
    json_t *ret = json_object();
    const char *key;
    json_t *value;

    json_object_foreach (arguments, key, value) {
        const json_t *part = json_object_get(properties, key);

        if (!part || !lenient_argument_is_empty(value) || lenient_arguments_need(schema, key))
            json_object_set_new(ret, key, lenient_argument_read(value, part));
    }
    return ret;
}
