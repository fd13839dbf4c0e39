/* The long strings of a message are taken out of its text before the text is parsed, and put back
 * afterwards: the parser reads a byte at a time, and meanwhile nobody else is served. They are most
 * of any large message: code, files. */
#pragma once

#include "base/protocol/scan.h"

#include <jansson.h>
#include <stddef.h>

struct long_string {
    size_t node; /* its number among the values of the message */
    char *bytes; /* owned: without escapes */
    size_t length;
};

struct long_strings {
    struct long_string *items; /* owned */
    size_t count;
};

/* Takes the strings that SCAN has found in TEXT and leaves empty strings; an invalid string stays,
 * for the parser to refuse. Returns the remaining length; behind it TEXT is blank. RET must be
 * zeroed. */
size_t long_strings_take(struct long_strings *ret, const struct scan *scan, char *text,
                         size_t length);

/* Puts the strings back into VALUE, which was parsed from the remaining text. */
void long_strings_put_back(const struct long_strings *strings, json_t *value);

void long_strings_deinit(struct long_strings *strings);
