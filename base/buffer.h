/* Bytes from outside, with a limit that must be set: no unbounded buffer exists. Reading from the
 * front is cheap: `buffer_consume` moves a mark and the storage is compacted when it grows. */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct buffer {
    char *data;      /* owned; NULL while empty and never used */
    size_t start;    /* first unread byte */
    size_t end;      /* behind the last byte */
    size_t capacity; /* bytes allocated */
    size_t limit;    /* most unread bytes it may ever hold */
};

void buffer_init(struct buffer *buffer, size_t limit);
void buffer_deinit(struct buffer *buffer);

size_t buffer_length(const struct buffer *buffer);

/* The unread bytes; valid until the buffer is changed. NULL if the buffer was never used. */
char *buffer_bytes(const struct buffer *buffer);

/* Appends LENGTH bytes, or fails with ERROR_LIMIT and appends nothing. */
int buffer_append(struct buffer *buffer, const char *data, size_t length, struct error *err);
int buffer_append_string(struct buffer *buffer, const char *string, struct error *err);
int buffer_append_format(struct buffer *buffer, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a buffer whose limit cannot be reached. */
void buffer_print(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for at least LENGTH more bytes, to read(2) into; `buffer_commit` says how many came.
 * NULL with ERROR_LIMIT when that would pass the limit. */
char *buffer_reserve(struct buffer *buffer, size_t length, struct error *err);
void buffer_commit(struct buffer *buffer, size_t length);

/* Drops LENGTH bytes from the front. An emptied buffer gives large storage back. */
void buffer_consume(struct buffer *buffer, size_t length);
