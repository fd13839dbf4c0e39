#include "base/json.h"

#include "base/json_writer.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *json_allocate(size_t size)
{
    return memory_resize(NULL, size);
}

void json_require_memory(void)
{
    json_set_alloc_funcs(json_allocate, free);
}

json_t *json_string_repaired(const char *bytes, size_t length)
{
    AUTO_FREE char *repaired = NULL;

    if (utf8_is_valid(bytes, length))
        return json_stringn_nocheck(bytes, length);
    repaired = utf8_repair(bytes, length, &length);
    return json_stringn_nocheck(repaired, length);
}

json_t *json_string_format(const char *format, ...)
{
    AUTO_FREE char *text = NULL;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return json_string("");
    return json_string_repaired(text, (size_t)length);
}

const char *json_type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
        return "integer";
    case JSON_REAL:
        return "number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "boolean";
    case JSON_NULL:
        return "null";
    }
    return "unknown";
}

char *json_text(const json_t *value)
{
    return json_text_within("", value, "");
}

/* Measured first, so that a large text is in memory once. */
char *json_text_within(const char *before, const json_t *value, const char *after)
{
    size_t length = json_writer_write(value, NULL);
    size_t prefix = strlen(before);
    char *text = memory_new(prefix + length + strlen(after) + 1, 1);

    memcpy(text, before, prefix);
    json_writer_write(value, text + prefix);
    memcpy(text + prefix + length, after, strlen(after) + 1);
    return text;
}

const char *json_object_get_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

char *json_object_copy_string(const json_t *object, const char *key)
{
    const char *text = json_object_get_string(object, key);

    return text ? memory_copy_string(text) : NULL;
}

double json_object_get_number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : otherwise;
}

json_t *json_strings(const char *const *strings)
{
    json_t *array = json_array();

    for (; strings && *strings; strings++)
        json_array_append_new(array, json_string(*strings));
    return array;
}

/* Adds TEXT, which ends at the address that comes back. */
static char *json_list_add(char *end, const char *text)
{
    const size_t length = strlen(text);

    memcpy(end, text, length);
    return end + length;
}

char *json_list(const json_t *strings)
{
    static const char between[] = ", ";
    const json_t *string;
    size_t length = 1;
    char *list;
    char *end;
    size_t i;

    json_array_foreach (strings, i, string)
        length += strlen(json_string_value(string)) + strlen(between);
    list = memory_new(length, 1);
    end = list;
    json_array_foreach (strings, i, string) {
        if (i > 0)
            end = json_list_add(end, between);
        end = json_list_add(end, json_string_value(string));
    }
    return list;
}

char *json_pointer_append(const char *pointer, const char *name)
{
    size_t used = strlen(pointer);
    char *longer = memory_new(used + 2 * strlen(name) + 2, 1);

    memcpy(longer, pointer, used);
    longer[used++] = '/';
    for (; *name; name++) {
        if (*name == '~' || *name == '/') {
            longer[used++] = '~';
            longer[used++] = *name == '~' ? '0' : '1';
        } else {
            longer[used++] = *name;
        }
    }
    return longer;
}

/* The bytes that the first character of TEXT takes in JSON; *RET_BYTES: its length in TEXT. */
static size_t escaped_character(const char *text, size_t length, size_t *ret_bytes)
{
    unsigned char byte = (unsigned char)*text;
    size_t skip = 0;

    *ret_bytes = 1;
    if (byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\')
        return 1;
    *ret_bytes = utf8_sequence(text, length, &skip);
    if (*ret_bytes == 0) {
        *ret_bytes = skip;
        return strlen("\uFFFD");
    }
    if (byte == '"' || byte == '\\' || (byte && strchr("\b\f\n\r\t", byte)))
        return 2;
    return byte < ' ' ? strlen("\\u0000") : *ret_bytes;
}

size_t json_escaped_prefix(const char *text, size_t length, size_t budget)
{
    size_t done = 0;

    while (done < length) {
        size_t bytes;
        size_t cost = escaped_character(text + done, length - done, &bytes);

        if (cost > budget)
            break;
        budget -= cost;
        done += bytes;
    }
    return done;
}

size_t json_escaped_length(const char *text, size_t length)
{
    size_t total = 0;

    for (size_t done = 0, bytes; done < length; done += bytes)
        total += escaped_character(text + done, length - done, &bytes);
    return total;
}

char *json_pointer_dotted(const char *pointer)
{
    char *path = memory_copy_string(*pointer ? pointer + 1 : pointer);
    char *end = path;

    for (const char *at = path; *at; at++) {
        if (*at == '~' && (at[1] == '0' || at[1] == '1'))
            *end++ = *++at == '0' ? '~' : '/';
        else
            *end++ = *at == '/' ? '.' : *at;
    }
    *end = '\0';
    return path;
}
