#include "base/ascii.h"

bool ascii_is_digit(char character)
{
    return character >= '0' && character <= '9';
}

bool ascii_is_blank(char character)
{
    return character == ' ' || character == '\t';
}

int ascii_hex_value(char character)
{
    if (ascii_is_digit(character))
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    if (character >= 'A' && character <= 'F')
        return character - 'A' + 10;
    return -1;
}
