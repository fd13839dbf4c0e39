#include "base/protocol/long_strings.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT_DIGITS = 4, /* of \uXXXX */
    HIGH_UNITS = 0xD800,
    LOW_UNITS = 0xDC00,
    UNITS_END = 0xE000,
    BEYOND_BASIC = 0x10000,
};

/* The rest of the inside of a string, and the buffer that gets it. */
struct string_reader {
    const char *at;
    const char *end;
    char *to;
};

static bool long_string_has_control(const char *text, size_t length)
{
    bool ret = false;

    for (size_t i = 0; i < length; i++) /* without a branch: many bytes at a time */
        ret |= (unsigned char)text[i] < ' ';
    return ret;
}

/* Copies what stands before the next escape. */
static bool string_reader_copy(struct string_reader *reader)
{
    size_t left = (size_t)(reader->end - reader->at);
    const char *escape = left ? memchr(reader->at, '\\', left) : NULL;
    size_t length = escape ? (size_t)(escape - reader->at) : left;

    if (long_string_has_control(reader->at, length) || !utf8_is_valid(reader->at, length))
        return false;
    memcpy(reader->to, reader->at, length);
    reader->to += length;
    reader->at += length;
    return true;
}

static int long_string_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads XXXX of \uXXXX. */
static bool string_reader_unit(struct string_reader *reader, uint32_t *ret)
{
    if (reader->end - reader->at < UNIT_DIGITS)
        return false;
    *ret = 0;
    for (int i = 0; i < UNIT_DIGITS; i++) {
        int digit = long_string_digit(*reader->at++);

        if (digit < 0)
            return false;
        *ret = *ret << 4 | (uint32_t)digit;
    }
    return true;
}

/* POINT takes fewer bytes than its escape. */
static void string_reader_put(struct string_reader *reader, uint32_t point)
{
    if (point < 0x80) {
        *reader->to++ = (char)point;
        return;
    }
    if (point < 0x800) {
        *reader->to++ = (char)(0xC0 | point >> 6);
    } else {
        if (point < BEYOND_BASIC) {
            *reader->to++ = (char)(0xE0 | point >> 12);
        } else {
            *reader->to++ = (char)(0xF0 | point >> 18);
            *reader->to++ = (char)(0x80 | (point >> 12 & 0x3F));
        }
        *reader->to++ = (char)(0x80 | (point >> 6 & 0x3F));
    }
    *reader->to++ = (char)(0x80 | (point & 0x3F));
}

/* The digits that follow \u: one unit, or two units for a character beyond the basic plane. */
static bool string_reader_point(struct string_reader *reader)
{
    uint32_t unit;
    uint32_t low;

    if (!string_reader_unit(reader, &unit))
        return false;
    if (unit < HIGH_UNITS || unit >= UNITS_END) {
        string_reader_put(reader, unit);
        return true;
    }
    if (unit >= LOW_UNITS || reader->end - reader->at < 2 || memcmp(reader->at, "\\u", 2) != 0)
        return false;
    reader->at += 2;
    if (!string_reader_unit(reader, &low) || low < LOW_UNITS || low >= UNITS_END)
        return false;
    string_reader_put(reader, BEYOND_BASIC + ((unit - HIGH_UNITS) << 10) + (low - LOW_UNITS));
    return true;
}

static bool string_reader_escape(struct string_reader *reader)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (reader->end - ++reader->at < 1 || !*reader->at)
        return false;
    if (*reader->at == 'u') {
        reader->at++;
        return string_reader_point(reader);
    }
    found = strchr(letters, *reader->at++);
    if (!found)
        return false;
    *reader->to++ = meanings[found - letters];
    return true;
}

/* Reads what stands between the quotes at TEXT. False: it is not valid. */
static bool long_string_read(struct long_string *ret, const char *text, size_t length)
{
    char *bytes = memory_new(length + 1, 1);
    struct string_reader reader = {.at = text, .end = text + length, .to = bytes};

    while (string_reader_copy(&reader)) {
        if (reader.at == reader.end) {
            ret->bytes = bytes;
            ret->length = (size_t)(reader.to - bytes);
            return true;
        }
        if (!string_reader_escape(&reader))
            break;
    }
    free(bytes);
    return false;
}

size_t long_strings_take(struct long_strings *ret, const struct scan *scan, char *text,
                         size_t length)
{
    char *to = text;
    size_t done = 0; /* of TEXT */

    if (scan->string_count == 0)
        return length;
    ret->items = memory_new(scan->string_count, sizeof *ret->items);
    for (size_t i = 0; i < scan->string_count; i++) {
        const struct scan_string *found = &scan->strings[i];
        struct long_string *string = &ret->items[ret->count];

        if (!long_string_read(string, text + found->start, found->end - found->start))
            continue;
        string->node = found->node;
        ret->count++;
        memmove(to, text + done, found->start - done);
        to += found->start - done;
        done = found->end;
    }
    memmove(to, text + done, length - done);
    to += length - done;
    memset(to, ' ', (size_t)(text + length - to));
    return (size_t)(to - text);
}

/* The values of a message are in the order in which they were written. */
struct long_strings_walk {
    const struct long_string *next;
    const struct long_string *end;
    size_t node;
};

static void long_strings_visit(struct long_strings_walk *walk, json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;

    walk->node++;
    if (walk->next == walk->end)
        return;
    if (walk->next->node == walk->node) {
        json_string_setn_nocheck(value, walk->next->bytes, walk->next->length);
        walk->next++;
    }
    json_object_foreach (value, key, inner)
        long_strings_visit(walk, inner);
    json_array_foreach (value, i, inner)
        long_strings_visit(walk, inner);
}

void long_strings_put_back(const struct long_strings *strings, json_t *value)
{
    struct long_strings_walk walk = {.next = strings->items,
                                     .end = strings->items + strings->count};

    if (strings->count > 0)
        long_strings_visit(&walk, value);
}

void long_strings_deinit(struct long_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->items[i].bytes);
    free(strings->items);
    *strings = (struct long_strings){0};
}
