/* The last events of a stream, each with its number, for a client that comes back for events it has
 * missed. The oldest are given up where there are too many. */
#pragma once

#include "base/list.h"

#include <stddef.h>

struct event {
    struct list link;
    unsigned long number; /* from 1 */
    size_t length;
    char text[]; /* ends in NUL */
};

struct event_log {
    struct list events; /* of struct event: owned; oldest first */
    size_t bytes;
    size_t limit;       /* of bytes, the newest event aside */
    unsigned long last; /* number of the newest, 0: there was none */
};

void event_log_init(struct event_log *log, size_t limit);
void event_log_deinit(struct event_log *log);

void event_log_append(struct event_log *log, const char *text, size_t length);

/* The oldest event behind NUMBER, valid until the next one is appended; NULL: there is none. */
const struct event *event_log_next(const struct event_log *log, unsigned long number);
