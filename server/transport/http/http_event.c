#include "server/transport/http/http_event.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { RETRY_TEXT_BYTES = 32 };

static const char data_prefix[] = "data: ";

static bool is_one_line(const char *text)
{
    return !text || !text[strcspn(text, "\r\n")];
}

/* Takes the next line off the front of DATA; false: that was the last. A line ends with \n, \r or
 * \r\n, as a client will read it. */
static bool http_event_take_line(const char **data, size_t *length, size_t *ret_line)
{
    const char *newline = memchr(*data, '\n', *length);
    size_t line = newline ? (size_t)(newline - *data) : *length;
    const char *carriage = memchr(*data, '\r', line);
    size_t end;

    if (carriage)
        line = (size_t)(carriage - *data);
    *ret_line = line;
    if (line == *length)
        return false;
    end = line + (carriage && newline == carriage + 1 ? 2 : 1);
    *data += end;
    *length -= end;
    return true;
}

static size_t data_length(const char *data, size_t length)
{
    size_t sum = 0;
    size_t line;
    bool more;

    do {
        more = http_event_take_line(&data, &length, &line);
        sum += strlen(data_prefix) + line + 1;
    } while (more);
    return sum;
}

static int format_retry(unsigned milliseconds, char text[static RETRY_TEXT_BYTES])
{
    return milliseconds ? snprintf(text, RETRY_TEXT_BYTES, "retry: %u\n", milliseconds) : 0;
}

static size_t line_length(const char *prefix, const char *value)
{
    return value ? strlen(prefix) + strlen(value) + 1 : 0;
}

size_t http_event_length(const struct http_event *event)
{
    char retry[RETRY_TEXT_BYTES];

    return line_length("id: ", event->id) + line_length("event: ", event->name) +
           (size_t)format_retry(event->retry, retry) + data_length(event->data, event->length) + 1;
}

static int append_line(struct buffer *out, const char *prefix, const char *value, size_t length,
                       struct error *err)
{
    if (buffer_append_string(out, prefix, err) < 0 || buffer_append(out, value, length, err) < 0)
        return -1;
    return buffer_append(out, "\n", 1, err);
}

static int append_word(struct buffer *out, const char *prefix, const char *value, struct error *err)
{
    return value ? append_line(out, prefix, value, strlen(value), err) : 0;
}

static int append_data(struct buffer *out, const char *data, size_t length, struct error *err)
{
    bool more = true;

    while (more) {
        const char *start = data;
        size_t line;

        more = http_event_take_line(&data, &length, &line);
        if (append_line(out, data_prefix, start, line, err) < 0)
            return -1;
    }
    return 0;
}

int http_event_append(const struct http_event *event, struct buffer *out, struct error *err)
{
    char retry[RETRY_TEXT_BYTES];
    size_t retry_length = (size_t)format_retry(event->retry, retry);

    assert(is_one_line(event->id) && is_one_line(event->name));
    if (append_word(out, "event: ", event->name, err) < 0 ||
        append_word(out, "id: ", event->id, err) < 0 ||
        buffer_append(out, retry, retry_length, err) < 0 ||
        append_data(out, event->data, event->length, err) < 0)
        return -1;
    return buffer_append(out, "\n", 1, err);
}
