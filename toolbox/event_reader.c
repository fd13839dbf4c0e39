#include "toolbox/event_reader.h"

#include "base/error.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENT_NAME_BYTES = 64, /* of a line, beside its data */
    EVENT_RETRY_DIGITS = 9,
};

void event_reader_init(struct event_reader *reader, size_t limit,
                       void (*event)(struct event_reader *reader, const char *type, char *data,
                                     size_t length))
{
    *reader = (struct event_reader){.event = event, .retry_seconds = -1};
    buffer_init(&reader->line, limit + EVENT_NAME_BYTES);
    buffer_init(&reader->data, limit + 1);
}

void event_reader_deinit(struct event_reader *reader)
{
    buffer_deinit(&reader->line);
    buffer_deinit(&reader->data);
}

void event_reader_restart(struct event_reader *reader)
{
    buffer_consume(&reader->line, buffer_length(&reader->line));
    buffer_consume(&reader->data, buffer_length(&reader->data));
    *reader->type = '\0';
    reader->was_return = false;
    reader->has_begun = false;
}

/* The data have a newline behind each line; the last one is dropped. */
static void event_reader_dispatch(struct event_reader *reader)
{
    const size_t length = buffer_length(&reader->data);

    if (length > 0) {
        char *data = buffer_bytes(&reader->data);

        data[length - 1] = '\0';
        reader->event(reader, *reader->type ? reader->type : "message", data, length - 1);
    }
    buffer_consume(&reader->data, length);
    *reader->type = '\0';
}

static void event_reader_take_type(struct event_reader *reader, const char *value, size_t length)
{
    if (length >= sizeof reader->type || memchr(value, '\0', length))
        length = 0;
    memcpy(reader->type, value, length);
    reader->type[length] = '\0';
}

/* An id becomes a field of a request. */
static void event_reader_take_id(struct event_reader *reader, const char *value, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (value[i] < ' ' || value[i] > '~')
            return;
    if (length > EVENT_ID_BYTES)
        return;
    memcpy(reader->id, value, length);
    reader->id[length] = '\0';
}

static void event_reader_take_retry(struct event_reader *reader, const char *value, size_t length)
{
    char digits[EVENT_RETRY_DIGITS + 1] = {0};

    if (length == 0 || length > EVENT_RETRY_DIGITS)
        return;
    memcpy(digits, value, length);
    if (strspn(digits, "0123456789") == length)
        reader->retry_seconds = (double)strtoul(digits, NULL, 10) / 1000;
}

static int event_reader_take_data(struct event_reader *reader, const char *value, size_t length,
                                  struct error *err)
{
    return buffer_append(&reader->data, value, length, err) < 0
               ? -1
               : buffer_append(&reader->data, "\n", 1, err);
}

static bool event_reader_is_name(const char *line, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(line, name, length) == 0;
}

static int event_reader_take_line(struct event_reader *reader, const char *line, size_t length,
                                  struct error *err)
{
    const char *colon = memchr(line, ':', length);
    const size_t name = colon ? (size_t)(colon - line) : length;
    size_t start = colon ? name + 1 : length;

    if (start < length && line[start] == ' ')
        start++;
    if (event_reader_is_name(line, name, "data"))
        return event_reader_take_data(reader, line + start, length - start, err);
    if (event_reader_is_name(line, name, "event"))
        event_reader_take_type(reader, line + start, length - start);
    else if (event_reader_is_name(line, name, "id"))
        event_reader_take_id(reader, line + start, length - start);
    else if (event_reader_is_name(line, name, "retry"))
        event_reader_take_retry(reader, line + start, length - start);
    return 0;
}

static int event_reader_end_line(struct event_reader *reader, struct error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t length = buffer_length(&reader->line);
    const char *line = length > 0 ? buffer_bytes(&reader->line) : "";
    const size_t skipped =
        !reader->has_begun && length >= strlen(mark) && memcmp(line, mark, strlen(mark)) == 0
            ? strlen(mark)
            : 0;
    int ret = 0;

    reader->has_begun = true;
    if (length == skipped)
        event_reader_dispatch(reader);
    else
        ret = event_reader_take_line(reader, line + skipped, length - skipped, err);
    buffer_consume(&reader->line, length);
    return ret;
}

/* A line ends with \n, \r or \r\n. The bytes that were taken; 0 with ERR. */
static size_t event_reader_feed_line(struct event_reader *reader, const char *bytes, size_t length,
                                     struct error *err)
{
    size_t end = 0;

    if (reader->was_return && *bytes == '\n') {
        reader->was_return = false;
        return 1;
    }
    reader->was_return = false;
    while (end < length && bytes[end] != '\n' && bytes[end] != '\r')
        end++;
    if (buffer_append(&reader->line, bytes, end, err) < 0)
        return 0;
    if (end == length)
        return length;
    reader->was_return = bytes[end] == '\r';
    return event_reader_end_line(reader, err) < 0 ? 0 : end + 1;
}

int event_reader_feed(struct event_reader *reader, const char *bytes, size_t length,
                      struct error *err)
{
    while (length > 0 && !reader->is_over) {
        const size_t taken = event_reader_feed_line(reader, bytes, length, err);

        if (taken == 0)
            return error_prefix(err, "an event of the stream is too long");
        bytes += taken;
        length -= taken;
    }
    return 0;
}
