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

enum printable_kind {
    PRINTABLE_CHARACTER,
    PRINTABLE_CONTROL,
    PRINTABLE_ILL_FORMED,
};

/* *RET: the kind of TEXT's first character. Returns its length. */
static size_t printable_look(const char *text, size_t left, enum printable_kind *ret)
{
    size_t skip;
    size_t length = utf8_sequence(text, left, &skip);

    *ret = length == 0                ? PRINTABLE_ILL_FORMED
           : is_control(text, length) ? PRINTABLE_CONTROL
                                      : PRINTABLE_CHARACTER;
    return length == 0 ? skip : length;
}

void printable_clean(char *text)
{
    enum printable_kind kind;
    size_t length;

    for (size_t left = strlen(text); left > 0; left -= length, text += length) {
        length = printable_look(text, left, &kind);
        if (kind != PRINTABLE_CHARACTER)
            memset(text, '?', length);
    }
}

void printable_clean_lines(char *text)
{
    enum printable_kind kind;
    size_t length;

    for (size_t left = strlen(text); left > 0; left -= length, text += length) {
        length = printable_look(text, left, &kind);
        if (kind == PRINTABLE_CONTROL && *text != '\n' && *text != '\t')
            memset(text, '?', length);
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
