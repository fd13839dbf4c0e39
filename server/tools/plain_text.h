/* The output of a program as text to read: as a terminal would show it in the end, without
 * repetitions. Pure functions over UTF-8. */
#pragma once

#include <stddef.h>

/* TEXT without control characters and sequences; of a line that was written over (a progress bar)
 * the last state. Owned by the caller, with a NUL behind its *RET_LENGTH bytes, as below. */
char *plain_text_clean(const char *text, size_t length, size_t *ret_length);

/* TEXT with a count in place of lines that repeat the line before them, where that is much shorter.
 */
char *plain_text_collapse(const char *text, size_t length, size_t *ret_length);

/* TEXT with the names of Python files in DIRECTORY, in tracebacks and warnings, relative to it. */
char *plain_text_shorten(const char *text, size_t length, const char *directory,
                         size_t *ret_length);
