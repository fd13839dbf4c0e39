#include "base/line_reader.h"

#include <assert.h>
#include <string.h>

void line_reader_init(struct line_reader *reader, size_t limit)
{
    *reader = (struct line_reader){.limit = limit};
    /* When all lines are taken, at most one line and its \r is left. */
    buffer_init(&reader->buffer, limit + 1 + LINE_READER_ROOM);
}

void line_reader_deinit(struct line_reader *reader)
{
    buffer_deinit(&reader->buffer);
}

static void line_reader_drop(struct line_reader *reader, size_t length)
{
    buffer_consume(&reader->buffer, length);
    reader->scanned = 0;
}

/* The line that was handed out last is no longer needed. */
static void forget_taken(struct line_reader *reader)
{
    if (reader->taken > 0)
        line_reader_drop(reader, reader->taken);
    reader->taken = 0;
}

char *line_reader_reserve(struct line_reader *reader)
{
    struct error err = ERROR_INIT;
    char *room;

    forget_taken(reader);
    room = buffer_reserve(&reader->buffer, LINE_READER_ROOM, &err);
    assert(room);
    return room;
}

void line_reader_commit(struct line_reader *reader, size_t length)
{
    buffer_commit(&reader->buffer, length);
}

void line_reader_end(struct line_reader *reader)
{
    reader->ended = true;
}

static bool line_reader_is_blank(const char *line, size_t length)
{
    while (length > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        length--;
    }
    return length == 0;
}

/* Takes the LENGTH unread bytes at the front, which end a line. Returns their kind. */
static enum line_kind line_reader_take(struct line_reader *reader, char **ret_line,
                                       size_t *ret_length, size_t length)
{
    char *line = buffer_bytes(&reader->buffer);
    bool skipped = reader->skipping;

    reader->taken = length;
    reader->skipping = false;
    if (length > 0 && line[length - 1] == '\n')
        length--;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (skipped || length > reader->limit)
        return LINE_TOO_LONG;
    if (line_reader_is_blank(line, length))
        return LINE_NONE;
    *ret_line = line;
    *ret_length = length;
    return LINE_COMPLETE;
}

/* Bytes at the front up to and including the first newline, or 0 when there is none. */
static size_t find_end(const struct line_reader *reader)
{
    const char *bytes = buffer_bytes(&reader->buffer);
    size_t unseen = buffer_length(&reader->buffer) - reader->scanned;
    const char *newline = unseen ? memchr(bytes + reader->scanned, '\n', unseen) : NULL;

    return newline ? (size_t)(newline - bytes) + 1 : 0;
}

/* All unread bytes belong to one line whose end is still to come. */
static void line_reader_wait_for_end(struct line_reader *reader)
{
    size_t length = buffer_length(&reader->buffer);

    reader->scanned = length;
    if (length > reader->limit + 1)
        reader->skipping = true;
    if (reader->skipping)
        line_reader_drop(reader, length);
}

enum line_kind line_reader_next(struct line_reader *reader, char **ret_line, size_t *ret_length)
{
    enum line_kind kind = LINE_NONE;

    while (kind == LINE_NONE) {
        size_t length;

        forget_taken(reader);
        length = find_end(reader);
        if (length == 0 && reader->ended)
            length = buffer_length(&reader->buffer);
        if (length == 0 && !(reader->ended && reader->skipping)) {
            line_reader_wait_for_end(reader);
            return LINE_NONE;
        }
        kind = line_reader_take(reader, ret_line, ret_length, length);
    }
    return kind;
}
