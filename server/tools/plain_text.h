/* The output of a program as text to read: without what only moves a terminal's cursor, and without
 * repetitions. Pure functions over UTF-8. */
#pragma once

#include <stddef.h>

/* TEXT without control sequences (those that begin with ESC), with other control characters as
 * \x85, and with the states of lines that were written over, as line_states.h has them.
 * *RET_UNTOLD: how many of these, which are no progress bar's, are left out. Owned by the caller,
 * with a NUL behind its *RET_LENGTH bytes, as below. */
char *plain_text_clean(const char *text, size_t length, size_t *ret_length, size_t *ret_untold);

/* TEXT with a count in place of lines that repeat the line before them, where that is much shorter.
 */
char *plain_text_collapse(const char *text, size_t length, size_t *ret_length);

/* TEXT with the names of Python files in DIRECTORY, in tracebacks and warnings, relative to it. */
char *plain_text_shorten(const char *text, size_t length, const char *directory,
                         size_t *ret_length);
