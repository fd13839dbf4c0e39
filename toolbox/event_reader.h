/* Reads a stream of events (text/event-stream, as the HTML standard has it). It comes from a server
 * that is not trusted: an event has a limit. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum { EVENT_ID_BYTES = 1024 }; /* a longer id is no id */

struct event_reader {
    /* Called for each event with data; DATA has a NUL behind it, and may be changed in place. */
    void (*event)(struct event_reader *reader, const char *type, char *data, size_t length);

    struct buffer line;
    struct buffer data;
    char type[32];               /* of the event that has begun; "" is "message" */
    char id[EVENT_ID_BYTES + 1]; /* the last one; "" if there was none */
    double retry_seconds;        /* how long to wait before the stream is asked for again; < 0: not
                                    said */
    bool was_return;             /* the last byte was \r: a \n belongs to it */
    bool has_begun;              /* the mark of UTF-8 at the beginning has been passed */
    bool is_over;                /* the caller wants no more events */
};

/* An event may have LIMIT bytes of data. */
void event_reader_init(struct event_reader *reader, size_t limit,
                       void (*event)(struct event_reader *reader, const char *type, char *data,
                                     size_t length));
void event_reader_deinit(struct event_reader *reader);

/* Another stream follows, which goes on where the last one was cut off. */
void event_reader_restart(struct event_reader *reader);

/* -1 with ERROR_LIMIT: an event is too long, and the stream cannot be read further. */
int event_reader_feed(struct event_reader *reader, const char *bytes, size_t length,
                      struct error *err);
