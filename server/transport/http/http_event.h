/* One event of a `text/event-stream`, as bytes. */
#pragma once

#include "base/buffer.h"

#include <stddef.h>

struct http_event {
    const char *id;   /* one line; NULL: none */
    const char *name; /* one line; NULL: none */
    const char *data; /* of any lines */
    size_t length;
    unsigned retry; /* milliseconds; 0: not said */
};

size_t http_event_length(const struct http_event *event);

/* Appends the event, http_event_length bytes: no byte of the data begins a line. */
int http_event_append(const struct http_event *event, struct buffer *out, struct error *err);
