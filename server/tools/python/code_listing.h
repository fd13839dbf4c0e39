/* A text as numbered lines, to be shown among others:
 *
 *      9 | import os
 *     10 | os.remove("a")
 *
 * No text can end its listing or look like the text around it: each line stands behind a bar, is
 * indented like a code block in Markdown, and invisible characters are shown by name. A long line
 * is continued below, behind a colon. */
#pragma once

#include <stddef.h>

struct buffer;

enum {
    LISTING_WHOLE_BYTES = 32 * 1024, /* a longer text is shortened */
    LISTING_HEAD_BYTES = 24 * 1024,  /* to its beginning ... */
    LISTING_TAIL_BYTES = 8 * 1024,   /* ... and its end, with a note between them */
};

struct code_listing {
    size_t lines;    /* as Python counts them */
    size_t left_out; /* bytes that are not shown */
};

/* Appends the listing of TEXT to BUFFER, which must have room for LISTING_ROOM_BYTES. */
enum { LISTING_ROOM_BYTES = 1024 * 1024 };

void code_listing_append(struct buffer *buffer, const char *text, size_t length);

/* Measures the listing of TEXT. */
struct code_listing code_listing_measure(const char *text, size_t length);
