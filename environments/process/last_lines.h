/* The last lines that a tool has written, for the error when it fails. Each line is also handed
 * on as it comes, for progress. */
#pragma once

#include <stddef.h>

enum {
    LAST_LINES_LINE = 400,   /* bytes of a line; a longer line is cut */
    LAST_LINES_BYTES = 1200, /* of all lines that are kept, with their ends */
    LAST_LINES_STREAMS = 2,
};

struct last_lines {
    /* May be NULL. LINE is without its end, and cleaned. */
    void (*said)(struct last_lines *lines, const char *line);

    struct {
        char text[LAST_LINES_LINE + 1];
        size_t length;
    } begun[LAST_LINES_STREAMS]; /* the unfinished line of each stream */
    char kept[LAST_LINES_BYTES + 1];
    size_t kept_length;
};

/* STREAM is a number below LAST_LINES_STREAMS: lines of different streams are not mixed. */
void last_lines_feed(struct last_lines *lines, int stream, const char *data, size_t length);

/* Called when the tool has ended. Its last lines, without the final newline; "" when it wrote none.
 * Borrowed. */
const char *last_lines_end(struct last_lines *lines);
