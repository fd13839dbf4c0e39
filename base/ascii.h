/* Characters of protocols: ASCII whatever the locale says. */
#pragma once

#include <stdbool.h>

static inline bool ascii_is_digit(char character)
{
    return character >= '0' && character <= '9';
}

/* True for a space and a tab. */
static inline bool ascii_is_blank(char character)
{
    return character == ' ' || character == '\t';
}

/* The value of a hexadecimal digit of either case, or -1. */
static inline int ascii_hex_value(char character)
{
    if (ascii_is_digit(character))
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    if (character >= 'A' && character <= 'F')
        return character - 'A' + 10;
    return -1;
}
