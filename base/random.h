/* Names that nobody can guess. */
#pragma once

/* DIGITS (an even number, at most 128) random hexadecimal digits. Owned by the caller. */
char *random_digits(unsigned digits);
