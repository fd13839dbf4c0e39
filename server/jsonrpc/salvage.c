#include "server/jsonrpc/salvage.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/protocol/message.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    ESCAPE_LENGTH = 6, /* a backslash, u, and four digits */
    HIGH_SURROGATE = 0xd800,
    LOW_SURROGATE = 0xdc00,
    SURROGATES_END = 0xe000,
};

/* The number of the escape \uXXXX at the start of TEXT, or -1. */
static long escaped_unit(const char *text, const char *end)
{
    char digits[5] = {0};

    if (end - text < ESCAPE_LENGTH || text[0] != '\\' || text[1] != 'u')
        return -1;
    memcpy(digits, text + 2, 4);
    for (int i = 0; i < 4; i++)
        if (!isxdigit((unsigned char)digits[i]))
            return -1;
    return strtol(digits, NULL, 16);
}

static bool is_low_surrogate(long unit)
{
    return unit >= LOW_SURROGATE && unit < SURROGATES_END;
}

/* Repairs the escape at the start of TEXT. The number of bytes that it takes. */
static ptrdiff_t repair_escape(char *text, const char *end)
{
    long unit = escaped_unit(text, end);

    if (unit < 0)
        return end - text < 2 ? 1 : 2;
    if (unit >= HIGH_SURROGATE && unit < LOW_SURROGATE &&
        is_low_surrogate(escaped_unit(text + ESCAPE_LENGTH, end)))
        return 2L * ESCAPE_LENGTH;
    if (unit == 0 || (unit >= HIGH_SURROGATE && unit < SURROGATES_END))
        memcpy(text + 2, "fffd", 4);
    return ESCAPE_LENGTH;
}

/* Outside of strings there are no backslashes, or there is nothing to repair. */
static void repair_escapes(char *text, size_t length)
{
    const char *end = text + length;

    while ((text = memchr(text, '\\', (size_t)(end - text))))
        text += repair_escape(text, end);
}

/* An id with repaired characters differs from the id that the client sent. */
static bool is_as_sent(const json_t *id)
{
    return !json_is_string(id) || !strstr(json_string_value(id), "\xef\xbf\xbd");
}

char *salvage_id(const char *text, size_t length, const struct scan *scan)
{
    size_t repaired_length;
    AUTO_FREE char *repaired = utf8_repair(text, length, &repaired_length);
    AUTO_JSON json_t *value = NULL;
    const json_t *id;

    repair_escapes(repaired, repaired_length);
    value = json_loadb(repaired, repaired_length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    /* Without a method it is a response, and its id is an id of ours. */
    if (!json_object_get_string(value, "method"))
        return NULL;
    id = json_object_get(value, "id");
    return is_as_sent(id) ? message_id_text(id, scan_find(scan, 0, SCAN_ID)) : NULL;
}
