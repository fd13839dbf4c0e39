#include "base/protocol/header_value.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_VALUE_PREFIX "=?base64?"
#define SUFFIX              "?="

static bool is_encoded(const char *value, size_t length)
{
    size_t around = strlen(HEADER_VALUE_PREFIX) + strlen(SUFFIX);

    return length >= around &&
           strncmp(value, HEADER_VALUE_PREFIX, strlen(HEADER_VALUE_PREFIX)) == 0 &&
           strcmp(value + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* Blanks around a value are lost on the way. */
static bool header_value_is_plain(const char *text, size_t length)
{
    if (is_encoded(text, length))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((text[i] < ' ' || text[i] > '~') && text[i] != '\t')
            return false;
    return length == 0 || (!strchr(" \t", text[0]) && !strchr(" \t", text[length - 1]));
}

char *header_value_encode(const char *text, size_t length)
{
    AUTO_FREE char *encoded = NULL;

    if (header_value_is_plain(text, length))
        return memory_format("%.*s", (int)length, text);
    encoded = base64_encode(BASE64_STANDARD, text, length);
    return memory_format(HEADER_VALUE_PREFIX "%s" SUFFIX, encoded);
}

char *header_value_decode(const char *value, size_t *ret_length)
{
    size_t length = strlen(value);
    AUTO_FREE char *decoded = NULL;

    if (!is_encoded(value, length)) {
        *ret_length = length;
        return memory_copy_string(value);
    }
    decoded = base64_decode(BASE64_STANDARD, value + strlen(HEADER_VALUE_PREFIX),
                            length - strlen(HEADER_VALUE_PREFIX) - strlen(SUFFIX), &length);
    if (!decoded || !utf8_is_valid(decoded, length))
        return NULL;
    *ret_length = length;
    return STEAL_PTR(decoded);
}

static bool is_text(const char *text, size_t length, const char *expected, size_t expected_length)
{
    return length == expected_length && memcmp(text, expected, length) == 0;
}

/* A number as JSON writes it, without an exponent. */
static bool is_decimal(const char *text)
{
    size_t digits = strspn(text += *text == '-', "0123456789");
    const char *rest = text + digits;

    if (digits == 0 || (digits > 1 && *text == '0'))
        return false;
    if (*rest == '.')
        return rest[1] && strspn(rest + 1, "0123456789") == strlen(rest + 1);
    return *rest == '\0';
}

/* 42 and 42.0 are equal. Integers that a double cannot hold exactly are compared as text. */
static bool header_value_is_number(const char *text, const json_t *expected)
{
    if (!is_decimal(text))
        return false;
    if (json_is_integer(expected) && !strchr(text, '.'))
        return strtoll(text, NULL, 10) == json_integer_value(expected);
    return strtod(text, NULL) == json_number_value(expected);
}

bool header_value_is(const char *value, const json_t *expected)
{
    size_t length = 0;
    AUTO_FREE char *text = header_value_decode(value, &length);

    if (!text)
        return false;
    if (json_is_string(expected))
        return is_text(text, length, json_string_value(expected), json_string_length(expected));
    if (strlen(text) != length)
        return false;
    if (json_is_boolean(expected))
        return strcmp(text, json_is_true(expected) ? "true" : "false") == 0;
    return header_value_is_number(text, expected);
}
