/* Characters of protocols: ASCII whatever the locale says. */
#pragma once

#include <stdbool.h>

bool ascii_is_digit(char character);

/* True for a space and a tab. */
bool ascii_is_blank(char character);

/* The value of a hexadecimal digit of either case, or -1. */
int ascii_hex_value(char character);
