/* Reads TOML 1.0 line by line, as far as two users need it: the block of a script (PEP 723) and the
 * settings of a client, which are edited as text. Strings and arrays of strings are read. Other
 * values are passed over, yet have to be well-formed where that decides how the text goes on:
 * strings, brackets, one pair in each line. No library for TOML in C is packaged in every Debian
 * that this runs on, and none tells where in the text a table lies. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* KEY = VALUE, or the header of a table. */
struct toml_item {
    bool is_table; /* [name] or [[name]] */
    size_t start;  /* where it begins in the text, behind blanks */
    size_t end;    /* behind its last line, line end included */
    json_t *name;  /* owned: its parts, an array of strings */
    json_t *value; /* owned: a string or an array of strings; NULL: of another type, or a table */
};

void toml_item_deinit(struct toml_item *item);

struct toml_reader {
    const char *text; /* borrowed */
    const char *at;
    const char *end;
    struct buffer string; /* the string that was read last */
    const char *fault;    /* why reading failed, static ... */
    size_t fault_at;      /* ... and where in the text */
};

/* LENGTH bytes of TEXT, which must outlive READER. */
void toml_reader_init(struct toml_reader *reader, const char *text, size_t length);
void toml_reader_deinit(struct toml_reader *reader);

/* 1: *RET is the next item, to be deinitialised. 0: the text has ended. -1: see `fault`. */
int toml_reader_next(struct toml_reader *reader, struct toml_item *ret);

/* The root table of LENGTH bytes of TEXT, without dotted keys; null is a value of another type.
 * NULL with ERROR_INVALID_ARGUMENTS, such as "line 3: a string is not closed". New reference. */
json_t *toml_read(const char *text, size_t length, struct error *err);
