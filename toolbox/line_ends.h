/* The beginning and the end of a line that may be too long to be kept: an answer that was dropped
 * still says, there or there, which request it was to. An answer that is no JSON says so, too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { LINE_ENDS_BYTES = 256 };

struct line_ends {
    char head[LINE_ENDS_BYTES];
    size_t head_length;
    char tail[LINE_ENDS_BYTES];
    size_t tail_length;
    size_t length; /* of the whole line, so far */
};

/* BYTES follow, up to the end of the line at most. Zeroed, LINE is empty. */
void line_ends_add(struct line_ends *line, const char *bytes, size_t length);

/* The id of the response that LINE is, as servers write it: before `result` or `error`, or as the
 * last or last but one member. 0: it is not found. */
unsigned line_ends_find_id(const struct line_ends *line);

/* LINE begins as a response does, unlike what programs print for people to read. */
bool line_ends_are_of_answer(const struct line_ends *line);
