/* Splits a stream of bytes into lines.
 *
 * A line ends with \n or \r\n; blank lines (empty, or only spaces and tabs) are passed over. A line
 * longer than the limit is dropped as it comes, in constant memory, and reported once its end has
 * been seen. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum line_kind {
    LINE_NONE,     /* more bytes are needed */
    LINE_COMPLETE, /* a line is handed out */
    LINE_TOO_LONG, /* a line was dropped */
};

struct line_reader {
    struct buffer buffer;
    size_t limit;   /* longest line, without its end */
    size_t scanned; /* unread bytes that are known to hold no newline */
    size_t taken;   /* bytes at the front that belong to the line handed out last */
    bool skipping;  /* inside a line that is too long */
    bool ended;     /* no bytes follow: the rest is a line, too */
};

/* LIMIT is the longest line in bytes. */
void line_reader_init(struct line_reader *reader, size_t limit);
void line_reader_deinit(struct line_reader *reader);

enum { LINE_READER_ROOM = 32 * 1024 };

/* Where the next LINE_READER_ROOM bytes can be read to; `line_reader_commit` says how many came.
 * All complete lines must have been taken before. */
char *line_reader_reserve(struct line_reader *reader);
void line_reader_commit(struct line_reader *reader, size_t length);

/* No bytes follow. The last line need not have a newline. */
void line_reader_end(struct line_reader *reader);

/* The next line: *RET_LINE, of *RET_LENGTH bytes, may be changed in place and is valid until the
 * next call for this reader. */
enum line_kind line_reader_next(struct line_reader *reader, char **ret_line, size_t *ret_length);
