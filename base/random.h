/* Names that nobody can guess. */
#pragma once

#include <stddef.h>

/* DIGITS (an even number, at most 128) random hexadecimal digits. Owned by the caller. */
char *random_digits(unsigned digits);

/* LENGTH random bytes, at most 256. */
void random_fill(void *bytes, size_t length);
