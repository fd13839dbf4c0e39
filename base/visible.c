#include "base/visible.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranges of characters without a visible shape: general categories Cc, Cf, Zl and Zp of Unicode 15,
 * blank letters and marks, and private use. */
static const struct {
    uint32_t first;
    uint32_t last;
} hidden[] = {
    {0x00, 0x1F},        {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x600, 0x605},      {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x890, 0x891},      {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
    {0x180B, 0x180F},    {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x2800, 0x2800},    {0x3164, 0x3164},   {0xE000, 0xF8FF},   {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD},
    {0x110CD, 0x110CD},  {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
    {0xE0000, 0x10FFFF},
};

static bool is_hidden(uint32_t point)
{
    for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
        if (point >= hidden[i].first && point <= hidden[i].last)
            return true;
    return false;
}

/* The code point of a well-formed sequence. */
static uint32_t visible_decode(const char *text, size_t length)
{
    static const unsigned char lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t point = (unsigned char)text[0] & lead_bits[length];

    for (size_t i = 1; i < length; i++)
        point = point << 6 | ((unsigned char)text[i] & 0x3F);
    return point;
}

size_t visible_character(const char *text, size_t length, char ret[VISIBLE_BYTES])
{
    size_t skip;
    size_t bytes = utf8_sequence(text, length, &skip);
    uint32_t point = bytes ? visible_decode(text, bytes) : 0;

    if (bytes == 0)
        snprintf(ret, VISIBLE_BYTES, "<%02X>", (unsigned char)*text);
    else if (is_hidden(point))
        snprintf(ret, VISIBLE_BYTES, "<U+%04X>", (unsigned)point);
    else
        snprintf(ret, VISIBLE_BYTES, "%.*s", (int)bytes, text);
    return bytes ? bytes : 1;
}

char *visible_line(const char *text, size_t length, size_t limit)
{
    const bool is_cut = length > limit;
    const size_t shown = is_cut ? utf8_boundary_before(text, limit) : length;
    char *line = memory_new(shown * (VISIBLE_BYTES - 1) + 1, 1);
    char *end = line;
    char *whole;

    for (size_t i = 0; i < shown; end += strlen(end))
        i += visible_character(text + i, shown - i, end);
    if (!is_cut)
        return line;
    whole = memory_format("%s... (%zu bytes in all)", line, length);
    free(line);
    return whole;
}
