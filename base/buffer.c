#include "base/buffer.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST_BYTES = 256,
    KEPT_BYTES = 64 * 1024, /* an empty buffer larger than this is released */
};

void buffer_init(struct buffer *buffer, size_t limit)
{
    assert(limit > 0);
    *buffer = (struct buffer){.limit = limit};
}

void buffer_deinit(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){.limit = buffer->limit};
}

size_t buffer_length(const struct buffer *buffer)
{
    return buffer->end - buffer->start;
}

char *buffer_bytes(const struct buffer *buffer)
{
    return buffer->data ? buffer->data + buffer->start : NULL;
}

static void buffer_compact(struct buffer *buffer)
{
    if (buffer->start == 0)
        return;
    assert(buffer->data);
    memmove(buffer->data, buffer->data + buffer->start, buffer_length(buffer));
    buffer->end -= buffer->start;
    buffer->start = 0;
}

static void buffer_grow(struct buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity ? buffer->capacity : SMALLEST_BYTES;

    while (capacity < needed)
        capacity *= 2;
    buffer->data = memory_resize(buffer->data, capacity);
    buffer->capacity = capacity;
}

/* Makes room for LENGTH more bytes and some to spare, so that small appends and small reads in turn
 * do not move the whole content each time. */
static void buffer_make_room(struct buffer *buffer, size_t length)
{
    buffer_compact(buffer);
    if (buffer->end + length >= buffer->capacity - buffer->capacity / 4)
        buffer_grow(buffer, buffer->end + length + buffer->capacity / 4);
}

char *buffer_reserve(struct buffer *buffer, size_t length, struct error *err)
{
    size_t unread = buffer_length(buffer);

    if (length > buffer->limit - unread) {
        error_set(err, ERROR_LIMIT, "more than %zu bytes", buffer->limit);
        return NULL;
    }
    if (!buffer->data || buffer->end + length > buffer->capacity)
        buffer_make_room(buffer, length);
    return buffer->data + buffer->end;
}

void buffer_commit(struct buffer *buffer, size_t length)
{
    assert(buffer->end + length <= buffer->capacity);
    buffer->end += length;
}

int buffer_append(struct buffer *buffer, const char *data, size_t length, struct error *err)
{
    char *room = buffer_reserve(buffer, length, err);

    if (!room)
        return -1;
    if (length)
        memcpy(room, data, length);
    buffer_commit(buffer, length);
    return 0;
}

int buffer_append_string(struct buffer *buffer, const char *string, struct error *err)
{
    return buffer_append(buffer, string, strlen(string), err);
}

int buffer_append_format(struct buffer *buffer, struct error *err, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    int length;
    int ret;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return error_set(err, ERROR_SYSTEM, "cannot format a message");
    ret = buffer_append(buffer, text, (size_t)length, err);
    free(text);
    return ret;
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *text = NULL;
    va_list arguments;
    int ret;

    va_start(arguments, format);
    text = memory_format_list(format, arguments);
    va_end(arguments);
    ret = buffer_append_string(buffer, text, &err);
    assert(ret == 0);
    (void)ret;
}

void buffer_consume(struct buffer *buffer, size_t length)
{
    assert(length <= buffer_length(buffer));
    buffer->start += length;
    if (buffer->start < buffer->end)
        return;
    buffer->start = 0;
    buffer->end = 0;
    if (buffer->capacity > KEPT_BYTES)
        buffer_deinit(buffer);
}
