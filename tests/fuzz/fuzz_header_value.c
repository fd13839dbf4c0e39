/* Input: a letter for the type of what is expected (s, i, b), the value of a header field up to a
 * newline, and what is expected. A value is read or it is not; what is read of an encoded one is
 * UTF-8 that this would have encoded so; every string is what its own encoding says. */
#undef NDEBUG
#include "base/base64.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/protocol/header_value.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_decoding(const char *value)
{
    size_t length = 0;
    AUTO_FREE char *decoded = header_value_decode(value, &length);
    AUTO_FREE char *encoded = NULL;
    AUTO_FREE char *field = NULL;

    if (!decoded || strcmp(decoded, value) == 0)
        return;
    assert(utf8_is_valid(decoded, length));
    encoded = base64_encode(BASE64_STANDARD, decoded, length);
    field = memory_format("=?base64?%s?=", encoded);
    assert(strcmp(field, value) == 0);
}

static void check_encoding(const char *text, size_t length)
{
    AUTO_FREE char *encoded = base64_encode(BASE64_STANDARD, text, length);
    AUTO_FREE char *field = memory_format("=?base64?%s?=", encoded);
    AUTO_JSON json_t *expected = json_stringn(text, length);

    assert(!expected || header_value_is(field, expected));
}

static json_t *expected_value(char type, const char *text, size_t length)
{
    AUTO_FREE char *copy = memory_format("%.*s", (int)length, text);

    if (type == 'i')
        return json_integer(strtoll(copy, NULL, 10));
    if (type == 'b')
        return json_boolean(length > 0 && *text == 't');
    return json_string_repaired(text, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    const char *newline = size > 1 ? memchr(text, '\n', size - 1) : NULL;
    AUTO_FREE char *value = NULL;
    AUTO_JSON json_t *expected = NULL;
    size_t length;

    if (!newline)
        return 0;
    length = size - 2 - (size_t)(newline - text);
    value = memory_format("%.*s", (int)(newline - text), text);
    expected = expected_value((char)data[0], newline + 1, length);
    header_value_is(value, expected);
    check_decoding(value);
    check_encoding(newline + 1, length);
    return 0;
}
