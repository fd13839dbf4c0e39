/* Text from outside, made fit for a person who has to judge it. A character that is invisible or
 * moves others (controls, direction marks, zero-width blanks) is written as <U+202E>. */
#pragma once

#include <stddef.h>

enum { VISIBLE_BYTES = 16 };

/* How many bytes the first character of TEXT takes (LENGTH > 0). RET is how it is shown. Ill-formed
 * UTF-8 is shown byte by byte. */
size_t visible_character(const char *text, size_t length, char ret[VISIBLE_BYTES]);

/* TEXT on one line: at most LIMIT bytes of it and, where these are not all, how many there are.
 * Owned by the caller. */
char *visible_line(const char *text, size_t length, size_t limit);
