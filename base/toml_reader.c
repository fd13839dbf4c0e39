#include "base/toml_reader.h"

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TOML_DEPTH = 16 }; /* of arrays and inline tables */

static int toml_refuse_at(struct toml_reader *reader, const char *place, const char *reason)
{
    reader->fault = reason;
    reader->fault_at = (size_t)(place - reader->text);
    return -1;
}

static int toml_refuse(struct toml_reader *reader, const char *reason)
{
    return toml_refuse_at(reader, reader->at, reason);
}

static char toml_peek(const struct toml_reader *reader)
{
    return reader->at < reader->end ? *reader->at : '\0';
}

static bool toml_is_at(const struct toml_reader *reader, const char *token)
{
    const size_t length = strlen(token);

    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, token, length) == 0;
}

static bool toml_take(struct toml_reader *reader, const char *token)
{
    if (!toml_is_at(reader, token))
        return false;
    reader->at += strlen(token);
    return true;
}

static void toml_skip_blanks(struct toml_reader *reader)
{
    while (reader->at < reader->end && ascii_is_blank(*reader->at))
        reader->at++;
}

static void toml_skip_comment(struct toml_reader *reader)
{
    if (toml_peek(reader) != '#')
        return;
    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
}

static bool toml_take_newline(struct toml_reader *reader)
{
    return toml_take(reader, "\n") || toml_take(reader, "\r\n");
}

/* Blanks, comments and newlines. */
static void toml_skip_space(struct toml_reader *reader)
{
    do {
        toml_skip_blanks(reader);
        toml_skip_comment(reader);
    } while (toml_take_newline(reader));
}

/* Strings */

/* There is room: a string is no longer than the text. */
static void toml_keep(struct toml_reader *reader, const char *bytes, size_t length)
{
    struct error ignored = ERROR_INIT;

    (void)buffer_append(&reader->string, bytes, length, &ignored);
}

/* In UTF-8. */
static void toml_keep_code_point(struct toml_reader *reader, uint32_t value)
{
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    const unsigned further = value < 0x80 ? 0 : value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
    char byte = (char)(leads[further] | value >> 6 * further);

    toml_keep(reader, &byte, 1);
    for (unsigned i = further; i > 0; i--) {
        byte = (char)(0x80 | (value >> 6 * (i - 1) & 0x3f));
        toml_keep(reader, &byte, 1);
    }
}

/* Reads the DIGITS of a character behind \u or \U. */
static int toml_read_code_point(struct toml_reader *reader, unsigned digits)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < digits; i++) {
        const int digit = ascii_hex_value(toml_peek(reader));

        if (digit < 0)
            return toml_refuse(reader, "an escape is not complete");
        value = value << 4 | (uint32_t)digit;
        reader->at++;
    }
    if (value == 0 || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return toml_refuse(reader, "an escape is not a character");
    toml_keep_code_point(reader, value);
    return 0;
}

/* A backslash at the end of a line of a long string removes the blanks behind it. */
static bool toml_skip_line_end(struct toml_reader *reader, bool is_long)
{
    const char *start = reader->at;

    toml_skip_blanks(reader);
    if (!is_long || !toml_take_newline(reader)) {
        reader->at = start;
        return false;
    }
    do
        toml_skip_blanks(reader);
    while (toml_take_newline(reader));
    return true;
}

static int toml_read_escape(struct toml_reader *reader, bool is_long)
{
    static const char letters[] = "btnfr\"\\";
    static const char meanings[] = "\b\t\n\f\r\"\\";
    const char *letter;

    if (toml_skip_line_end(reader, is_long))
        return 0;
    if (toml_take(reader, "u"))
        return toml_read_code_point(reader, 4);
    if (toml_take(reader, "U"))
        return toml_read_code_point(reader, 8);
    letter = toml_peek(reader) ? strchr(letters, toml_peek(reader)) : NULL;
    if (!letter)
        return toml_refuse(reader, "a backslash is followed by something that it cannot escape");
    toml_keep(reader, &meanings[letter - letters], 1);
    reader->at++;
    return 0;
}

/* Up to two more quotes belong to a long string that ends with them. */
static void toml_end_long(struct toml_reader *reader, char quote)
{
    while (reader->end - reader->at > 3 && reader->at[3] == quote) {
        toml_keep(reader, &quote, 1);
        reader->at++;
    }
    reader->at += 3;
}

/* Reads up to QUOTES, one quote or three, as at START of the string. */
static int toml_read_rest(struct toml_reader *reader, const char *start, const char *quotes)
{
    const bool is_long = strlen(quotes) == 3;
    const bool has_escapes = *quotes == '"';

    while (reader->at < reader->end) {
        if (toml_is_at(reader, quotes)) {
            if (is_long)
                toml_end_long(reader, *quotes);
            else
                reader->at++;
            return 0;
        }
        if (has_escapes && toml_take(reader, "\\")) {
            if (toml_read_escape(reader, is_long) < 0)
                return -1;
            continue;
        }
        if (*reader->at == '\n' && !is_long)
            break;
        toml_keep(reader, reader->at++, 1);
    }
    return toml_refuse_at(reader, start, "a string is not closed");
}

/* Reads the string that begins here into `string`. */
static int toml_read_string(struct toml_reader *reader)
{
    static const char *const kinds[] = {"\"\"\"", "'''", "\"", "'"};
    const char *start = reader->at;

    buffer_consume(&reader->string, buffer_length(&reader->string));
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (!toml_take(reader, kinds[i]))
            continue;
        if (strlen(kinds[i]) == 3)
            toml_take_newline(reader);
        return toml_read_rest(reader, start, kinds[i]);
    }
    return toml_refuse(reader, "a string in quotes is missing");
}

/* The string that was read last; NULL: it is no UTF-8. New reference. */
static json_t *toml_string(const struct toml_reader *reader)
{
    return json_stringn(buffer_length(&reader->string) ? buffer_bytes(&reader->string) : "",
                        buffer_length(&reader->string));
}

/* Values */

static int toml_read_value(struct toml_reader *reader, unsigned depth, json_t **ret);

/* A number, a date, true or false. */
static int toml_skip_word(struct toml_reader *reader)
{
    const char *start = reader->at;

    while (reader->at < reader->end && *reader->at && !strchr(",]}#\r\n", *reader->at))
        reader->at++;
    return reader->at == start ? toml_refuse(reader, "a value is missing") : 0;
}

/* Adds VALUE (taken; NULL: of another type) to LIST, which becomes NULL unless it has strings
 * only. */
static void toml_add(json_t **list, json_t *value)
{
    if (*list && json_is_string(value)) {
        json_array_append_new(*list, value);
        return;
    }
    json_decref(value);
    json_decref(*list);
    *list = NULL;
}

static int toml_read_items(struct toml_reader *reader, unsigned depth, json_t **list)
{
    for (;;) {
        json_t *value = NULL;

        toml_skip_space(reader);
        if (toml_take(reader, "]"))
            return 0;
        if (reader->at < reader->end && toml_read_value(reader, depth + 1, &value) < 0)
            return -1;
        toml_add(list, value);
        toml_skip_space(reader);
        if (!toml_take(reader, ",") && toml_peek(reader) != ']')
            return toml_refuse(reader, "an array is not closed, or a comma is missing in it");
    }
}

static int toml_read_array(struct toml_reader *reader, unsigned depth, json_t **ret)
{
    json_t *list = json_array();

    if (toml_read_items(reader, depth, &list) < 0) {
        json_decref(list);
        return -1;
    }
    *ret = list;
    return 0;
}

static int toml_read_key(struct toml_reader *reader, json_t **ret);

/* KEY = VALUE. *RET_VALUE is NULL for a value of another type. */
static int toml_read_pair(struct toml_reader *reader, unsigned depth, json_t **ret_key,
                          json_t **ret_value)
{
    if (toml_read_key(reader, ret_key) < 0)
        return -1;
    if (!toml_take(reader, "="))
        return toml_refuse(reader, "a \"=\" is missing behind the key");
    toml_skip_blanks(reader);
    return toml_read_value(reader, depth, ret_value);
}

static int toml_skip_inline_table(struct toml_reader *reader, unsigned depth)
{
    toml_skip_blanks(reader);
    if (toml_take(reader, "}"))
        return 0;
    do {
        AUTO_JSON json_t *key = NULL;
        AUTO_JSON json_t *value = NULL;

        toml_skip_blanks(reader);
        if (toml_read_pair(reader, depth + 1, &key, &value) < 0)
            return -1;
        toml_skip_blanks(reader);
    } while (toml_take(reader, ","));
    return toml_take(reader, "}") ? 0 : toml_refuse(reader, "an inline table is not closed");
}

static int toml_read_value(struct toml_reader *reader, unsigned depth, json_t **ret)
{
    *ret = NULL;
    if (depth == TOML_DEPTH)
        return toml_refuse(reader, "arrays and tables are too deep");
    if (toml_take(reader, "["))
        return toml_read_array(reader, depth, ret);
    if (toml_take(reader, "{"))
        return toml_skip_inline_table(reader, depth);
    if (toml_peek(reader) != '"' && toml_peek(reader) != '\'')
        return toml_skip_word(reader);
    if (toml_read_string(reader) < 0)
        return -1;
    *ret = toml_string(reader);
    return *ret ? 0 : toml_refuse(reader, "a string is not valid UTF-8");
}

/* Lines */

static bool toml_is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_is_digit(c) || c == '_' ||
           c == '-';
}

/* Reads one part of a key into `string`. */
static int toml_read_key_part(struct toml_reader *reader)
{
    if (toml_is_at(reader, "\"\"\"") || toml_is_at(reader, "'''"))
        return toml_refuse(reader, "a key may not be a long string");
    if (toml_peek(reader) == '"' || toml_peek(reader) == '\'')
        return toml_read_string(reader);
    if (!toml_is_bare(toml_peek(reader)))
        return toml_refuse(reader, "a key is missing");
    buffer_consume(&reader->string, buffer_length(&reader->string));
    while (toml_is_bare(toml_peek(reader)))
        toml_keep(reader, reader->at++, 1);
    return 0;
}

/* Reads a key, and moves over the blanks behind it. *RET has its parts, owned by the caller, even
 * if this fails. */
static int toml_read_key(struct toml_reader *reader, json_t **ret)
{
    *ret = json_array();
    do {
        toml_skip_blanks(reader);
        if (toml_read_key_part(reader) < 0)
            return -1;
        if (json_array_append_new(*ret, toml_string(reader)) < 0)
            return toml_refuse(reader, "a key is not valid UTF-8");
        toml_skip_blanks(reader);
    } while (toml_take(reader, "."));
    return 0;
}

/* [name] or [[name]] */
static int toml_read_header(struct toml_reader *reader, json_t **ret_name)
{
    const char *close = toml_is_at(reader, "[[") ? "]]" : "]";

    reader->at += strlen(close);
    if (toml_read_key(reader, ret_name) < 0)
        return -1;
    return toml_take(reader, close) ? 0 : toml_refuse(reader, "the name of a table is not closed");
}

static int toml_end_line(struct toml_reader *reader)
{
    toml_skip_blanks(reader);
    toml_skip_comment(reader);
    if (reader->at == reader->end || toml_take_newline(reader))
        return 0;
    return toml_refuse(reader, "there is something behind the value");
}

/* Items */

void toml_item_deinit(struct toml_item *item)
{
    json_decref(item->name);
    json_decref(item->value);
    *item = (struct toml_item){0};
}

void toml_reader_init(struct toml_reader *reader, const char *text, size_t length)
{
    *reader = (struct toml_reader){.text = text, .at = text, .end = text + length};
    buffer_init(&reader->string, length + 1);
}

void toml_reader_deinit(struct toml_reader *reader)
{
    buffer_deinit(&reader->string);
}

static int toml_read_item(struct toml_reader *reader, struct toml_item *item)
{
    const int result = item->is_table ? toml_read_header(reader, &item->name)
                                      : toml_read_pair(reader, 0, &item->name, &item->value);

    return result < 0 ? -1 : toml_end_line(reader);
}

int toml_reader_next(struct toml_reader *reader, struct toml_item *ret)
{
    *ret = (struct toml_item){0};
    toml_skip_space(reader);
    if (reader->at == reader->end)
        return 0;
    ret->is_table = toml_peek(reader) == '[';
    ret->start = (size_t)(reader->at - reader->text);
    if (toml_read_item(reader, ret) < 0) {
        toml_item_deinit(ret);
        return -1;
    }
    ret->end = (size_t)(reader->at - reader->text);
    return 1;
}

/* The root table */

static int toml_fault(const struct toml_reader *reader, struct error *err)
{
    unsigned line = 1;

    for (size_t i = 0; i < reader->fault_at; i++)
        line += reader->text[i] == '\n';
    return error_set(err, ERROR_INVALID_ARGUMENTS, "line %u: %s", line, reader->fault);
}

/* Puts a pair into ROOT, unless its key is dotted. */
static int toml_put(struct toml_reader *reader, const struct toml_item *item, json_t *root)
{
    const char *name = json_string_value(json_array_get(item->name, 0));

    if (json_array_size(item->name) > 1)
        return 0;
    if (json_object_get(root, name))
        return toml_refuse_at(reader, reader->text + item->start, "a key is there twice");
    json_object_set(root, name, item->value ? item->value : json_null());
    return 0;
}

static int toml_read_root(struct toml_reader *reader, json_t *root)
{
    bool is_root = true;
    int result;

    do {
        AUTO(toml_item_deinit) struct toml_item item;

        result = toml_reader_next(reader, &item);
        is_root = is_root && !item.is_table;
        if (result > 0 && is_root && toml_put(reader, &item, root) < 0)
            result = -1;
    } while (result > 0);
    return result;
}

json_t *toml_read(const char *text, size_t length, struct error *err)
{
    AUTO(toml_reader_deinit) struct toml_reader reader;
    AUTO_JSON json_t *root = json_object();

    toml_reader_init(&reader, text, length);
    if (toml_read_root(&reader, root) < 0) {
        toml_fault(&reader, err);
        return NULL;
    }
    return STEAL_PTR(root);
}
