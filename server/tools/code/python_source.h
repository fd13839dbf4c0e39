/* Python source as its logical lines: one statement, or several with semicolons between them, over
 * as many physical lines as brackets, strings and backslashes make of it. The text is not parsed
 * any further. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct python_line {
    const char *text; /* behind the indentation; not NUL-terminated */
    size_t length;    /* without a comment and blanks at the end */
    unsigned number;  /* of its first physical line, from 1 */
    size_t indent;    /* characters of blank before it */
    const char *stop; /* its last `;` outside of brackets and strings, or NULL */
    const char *mark; /* its first `:` or `=` there that is no part of a comparison, or NULL */
};

struct python_source {
    const char *at;
    const char *end;
    unsigned number;
    bool is_lost; /* a string or a bracket is not closed, so lines may be wrong */
};

void python_source_init(struct python_source *source, const char *code, size_t length);

/* The next line that is not blank. False at the end. */
bool python_source_next(struct python_source *source, struct python_line *ret);

/* The next string that is closed, from quote to quote. False at the end. Not for a source whose
 * lines are read. */
bool python_source_next_string(struct python_source *source, const char **ret_start,
                               const char **ret_end);

/* True when LINE begins with WORD as a word of its own. */
bool python_line_begins(const struct python_line *line, const char *word);

/* The length of the name at TEXT, which ends before END; 0: there is none. */
size_t python_name_length(const char *text, const char *end);

/* True when CODE has WORDS outside of strings and comments; if they begin a name, at the beginning
 * of one. */
bool python_source_has(const char *code, size_t length, const char *words);
