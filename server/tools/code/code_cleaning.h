/* Code as it runs: without text that a model has put around it or into it out of habit, if
 * certainly nothing is lost. Code is cleaned only if it could not run as it was, or would be read
 * as bytes in another encoding: code comes as text (base/coding_line.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct code_cleaning {
    const char *text; /* NUL-terminated: of the code that was given, borrowed, or `copy` */
    size_t length;
    bool had_fence; /* a Markdown fence around it; see code_fence.h */
    bool had_magic; /* lines that only say how a notebook shows figures: %matplotlib inline */
    char *copy;     /* owned; NULL: the code stays as it is */
};

/* CODE is NUL-terminated. Removed lines leave blanks, so that line numbers stay. */
void code_cleaning_do(struct code_cleaning *ret, const char *code, size_t length);

/* Leaves out the lines that install packages (pip_line.h), which the server has done. */
void code_cleaning_take_packages(struct code_cleaning *cleaning);
void code_cleaning_deinit(struct code_cleaning *cleaning);
