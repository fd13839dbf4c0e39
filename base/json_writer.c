#include "base/json_writer.h"

#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ESCAPE_BYTES = 7,   /* \u0000 and a NUL */
    NUMBER_BYTES = 320, /* more than any takes */
};

struct json_writer {
    char *to; /* borrowed; NULL: nothing is written */
    size_t length;
};

static void json_writer_put(struct json_writer *writer, const char *bytes, size_t length)
{
    if (writer->to)
        memcpy(writer->to + writer->length, bytes, length);
    writer->length += length;
}

static void json_writer_put_escape(struct json_writer *writer, char c)
{
    static const char characters[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = c ? strchr(characters, c) : NULL;
    char escape[ESCAPE_BYTES];
    int length = found ? snprintf(escape, sizeof escape, "\\%c", letters[found - characters])
                       : snprintf(escape, sizeof escape, "\\u%04X", (unsigned)(unsigned char)c);

    json_writer_put(writer, escape, (size_t)length);
}

/* The bytes at the start of TEXT that are written as they are. */
static size_t json_writer_plain(const char *text, size_t length)
{
    size_t end = 0;

    while (end < length && (unsigned char)text[end] >= ' ' && text[end] != '"' && text[end] != '\\')
        end++;
    return end;
}

static void json_writer_put_string(struct json_writer *writer, const char *text, size_t length)
{
    json_writer_put(writer, "\"", 1);
    while (length > 0) {
        size_t plain = json_writer_plain(text, length);

        json_writer_put(writer, text, plain);
        text += plain;
        length -= plain;
        if (length == 0)
            break;
        json_writer_put_escape(writer, *text++);
        length--;
    }
    json_writer_put(writer, "\"", 1);
}

/* Numbers, true, false and null. A missing value is written as null, too. A number has as many
 * digits as it takes to read the same one. */
static void json_writer_put_other(struct json_writer *writer, const json_t *value)
{
    char text[NUMBER_BYTES] = "null";
    size_t length = 0;

    for (size_t digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        length =
            json_dumpb(value, text, sizeof text - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        text[length] = '\0';
        if (!json_is_real(value) || strtod(text, NULL) == json_real_value(value))
            break;
    }
    json_writer_put(writer, length > 0 ? text : "null", length > 0 ? length : strlen("null"));
}

static void json_writer_put_value(struct json_writer *writer, const json_t *value);

static void json_writer_put_array(struct json_writer *writer, const json_t *array)
{
    const json_t *value;
    size_t i;

    json_writer_put(writer, "[", 1);
    json_array_foreach (array, i, value) {
        json_writer_put(writer, ",", i > 0);
        json_writer_put_value(writer, value);
    }
    json_writer_put(writer, "]", 1);
}

static void json_writer_put_object(struct json_writer *writer, const json_t *object)
{
    const char *key;
    json_t *value;
    bool is_first = true;

    json_writer_put(writer, "{", 1);
    json_object_foreach ((json_t *)object, key, value) {
        json_writer_put(writer, ",", !is_first);
        is_first = false;
        json_writer_put_string(writer, key, strlen(key));
        json_writer_put(writer, ":", 1);
        json_writer_put_value(writer, value);
    }
    json_writer_put(writer, "}", 1);
}

static void json_writer_put_value(struct json_writer *writer, const json_t *value)
{
    if (json_is_string(value))
        json_writer_put_string(writer, json_string_value(value), json_string_length(value));
    else if (json_is_array(value))
        json_writer_put_array(writer, value);
    else if (json_is_object(value))
        json_writer_put_object(writer, value);
    else
        json_writer_put_other(writer, value);
}

size_t json_writer_write(const json_t *value, char *to)
{
    struct json_writer writer = {.to = to};

    json_writer_put_value(&writer, value);
    return writer.length;
}
