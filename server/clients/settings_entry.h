/* An entry in the settings of a client: a member of an object, or an element of an array.
 *
 * Settings are edited as text, so that comments, order and formatting stay. The form of the
 * inserted text depends on the text that was there before, so that taking it out restores every
 * byte: if white space follows the bracket of a container, it was made for the entry; if none
 * follows, it was there, empty. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    SETTINGS_BYTES = 32 * 1024 * 1024,
    SETTINGS_DEPTH = 4, /* names of containers, at most */
};

struct settings_entry {
    const char *const *path; /* the objects around it, outermost first; NULL-terminated */
    const char *name;        /* of the member; NULL for an element of an array */
    const json_t *value;     /* borrowed; of an element, its text */
};

/* How an edit ended; -1 with ERR otherwise, whose message begins with "LINE:COLUMN: ". */
enum settings_outcome {
    SETTINGS_SAME,    /* nothing to do */
    SETTINGS_CHANGED, /* *RET_TEXT is the new text, owned by the caller */
    SETTINGS_GONE,    /* nothing is left: the file was made for the entry */
};

/* ERROR_CONFIG at OFFSET of TEXT, as "LINE:COLUMN: FORMAT". Returns -1. */
int settings_fault(struct error *err, const char *text, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The bytes from START to END of a text become TEXT. */
struct settings_splice {
    size_t start;
    size_t end;
    const char *text; /* borrowed */
};

/* TEXT with COUNT splices, which are in its order. Owned by the caller. */
char *settings_spliced(const char *text, const struct settings_splice *splices, size_t count);

/* True for the bytes that JSON, TOML and YAML know as white space. */
bool settings_is_space(char character);

/* The offset behind the last byte of TEXT that is no white space, between FLOOR and END. */
size_t settings_trim(const char *text, size_t floor, size_t end);

/* -1 with ERR when a carriage return in TEXT ends no line. */
int settings_check_line_ends(const char *text, struct error *err);

/* "\r\n" if the first line of TEXT ends so, else "\n". */
const char *settings_line_end(const char *text);
