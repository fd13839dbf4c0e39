/* What a tool has said last, line by line, for the error when it fails; each line as it comes, for
 * progress. */
#pragma once

#include <stddef.h>

enum {
    LAST_LINES_LINE = 400,   /* bytes of a line; what is longer is cut */
    LAST_LINES_BYTES = 1200, /* of all that is kept, each line with its end */
    LAST_LINES_STREAMS = 2,
};

struct last_lines {
    /* May be NULL. LINE is without its end, and cleaned. */
    void (*said)(struct last_lines *lines, const char *line);

    struct {
        char text[LAST_LINES_LINE + 1];
        size_t length;
    } begun[LAST_LINES_STREAMS]; /* the line that each stream is in the middle of */
    char kept[LAST_LINES_BYTES + 1];
    size_t kept_length;
};

/* STREAM is a number below LAST_LINES_STREAMS: lines of several are not mixed. */
void last_lines_feed(struct last_lines *lines, int stream, const char *data, size_t length);

/* The tool has ended. What it said last, without the end of the last line: "" if that is nothing.
 * Borrowed. */
const char *last_lines_end(struct last_lines *lines);
