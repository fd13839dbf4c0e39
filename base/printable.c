#include "base/printable.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define FIRST_WIDE_LEAD 0xE1 /* of U+1000 and above, where Hangul, kana, Han and emoji are */

static bool is_control(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;

    if (length == 1)
        return bytes[0] < ' ' || bytes[0] == 0x7F;
    return length == 2 && bytes[0] == 0xC2 && bytes[1] < 0xA0; /* U+0080 to U+009F */
}

void printable_clean(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t skip;
        size_t length = utf8_sequence(text, left, &skip);
        bool is_wrong = length == 0 || is_control(text, length);

        if (length == 0)
            length = skip;
        if (is_wrong)
            memset(text, '?', length);
        text += length;
        left -= length;
    }
}

size_t printable_fit(const char *text, size_t columns, size_t *ret_used)
{
    const size_t length = strlen(text);
    size_t end = 0;
    size_t used = 0;

    while (end < length) {
        size_t width = (unsigned char)text[end] >= FIRST_WIDE_LEAD ? 2 : 1;
        size_t skip;

        if (used + width > columns)
            break;
        used += width;
        end += utf8_sequence(text + end, length - end, &skip);
    }
    *ret_used = used;
    return end;
}
