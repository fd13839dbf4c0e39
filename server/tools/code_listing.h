/* A text as numbered lines, to be shown among others:
 *
 *      9 | import os
 *     10 | os.remove("a")
 *
 * Nothing in the text can end its listing or pass for what is around it: each line stands behind a
 * bar, indented as far as Markdown takes for code, and what cannot be seen is named. A line that is
 * long goes on below itself, behind a colon. */
#pragma once

#include <stddef.h>

struct buffer;

enum {
    LISTING_WHOLE_BYTES = 32 * 1024, /* the longest text that is shown in full */
    LISTING_HEAD_BYTES = 24 * 1024,  /* of a longer one its beginning ... */
    LISTING_TAIL_BYTES = 8 * 1024,   /* ... and its end, with a note between */
};

struct code_listing {
    size_t lines;    /* as Python counts them */
    size_t left_out; /* bytes that are not shown */
};

/* Appends the listing of TEXT to BUFFER, whose limit must have room for it: LISTING_ROOM_BYTES do.
 */
enum { LISTING_ROOM_BYTES = 1024 * 1024 };

void code_listing_append(struct buffer *buffer, const char *text, size_t length);

/* What the listing of TEXT is like. */
struct code_listing code_listing_measure(const char *text, size_t length);

/* The encoding in which Python reads CODE because CODE says so (PEP 263); NULL: UTF-8, as it is
 * shown. Owned by the caller. */
char *code_listing_encoding(const char *code, size_t length);
