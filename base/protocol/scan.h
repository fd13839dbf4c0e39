/* One pass over a message before it is parsed.
 *
 * The parser builds a tree for any text and refuses numbers that do not fit its types. So limits
 * are kept here, before anything is allocated, and integers beyond 64 bits and reals beyond a
 * double are overwritten by +-1e308 and blanks, which says "very large" just as well. Where such an
 * integer is an id, its digits are kept: an id is echoed digit by digit. Long strings are found,
 * for long_strings.h.
 *
 * The scan does not judge syntax. Its changes to malformed text do not matter, since the parser
 * refuses such text afterwards. */
#pragma once

#include "base/error.h"

#include <stddef.h>

#define SCAN_LARGE 1e308 /* what a number that does not fit is read as, or the same below zero */

enum {
    SCAN_DEPTH = 64,
    SCAN_NODES = 100000,   /* values of any kind */
    SCAN_MEMBERS = 10000,  /* of one object */
    SCAN_LONG_BYTES = 256, /* of a string that counts as long, as it is written */
};

enum scan_place {
    SCAN_ID,         /* the member `id` of a message */
    SCAN_REQUEST_ID, /* the member `requestId` of its `params` */
};

/* An overwritten integer that is an id. */
struct scan_number {
    size_t element; /* position of the message in a batch; 0 outside of one */
    enum scan_place place;
    char *digits; /* with a sign, if it had one; owned */
};

/* A long string that is a value. */
struct scan_string {
    size_t node;  /* its number among the values of the message; the first is 1 */
    size_t start; /* of the text between its quotes */
    size_t end;
};

struct scan {
    struct scan_number *numbers; /* owned */
    size_t count;
    struct scan_string *strings; /* owned */
    size_t string_count;
    size_t string_room;
};

/* Goes over LENGTH bytes of TEXT and changes them in place. ERROR_INVALID_REQUEST beyond a limit.
 * SCAN must be zeroed. */
int scan_text(struct scan *scan, char *text, size_t length, struct error *err);
void scan_deinit(struct scan *scan);

/* The digits that stood at PLACE of message ELEMENT; NULL when the parser sees the number itself.
 * Borrowed. */
const char *scan_find(const struct scan *scan, size_t element, enum scan_place place);
