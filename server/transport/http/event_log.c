#include "server/transport/http/event_log.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static struct event *event_of(struct list *link)
{
    return CONTAINER_OF(link, struct event, link);
}

static void drop_oldest(struct event_log *log)
{
    struct event *event = event_of(log->events.next);

    log->bytes -= event->length;
    list_remove(&event->link);
    free(event);
}

void event_log_init(struct event_log *log, size_t limit)
{
    *log = (struct event_log){.limit = limit};
    list_init(&log->events);
}

void event_log_deinit(struct event_log *log)
{
    while (!list_is_empty(&log->events))
        drop_oldest(log);
}

void event_log_append(struct event_log *log, const char *text, size_t length)
{
    struct event *event = memory_new(1, sizeof(*event) + length + 1);

    while (log->bytes > log->limit)
        drop_oldest(log);
    event->number = ++log->last;
    event->length = length;
    memcpy(event->text, text, length);
    log->bytes += length;
    list_append(&log->events, &event->link);
}

const struct event *event_log_next(const struct event_log *log, unsigned long number)
{
    const struct event *next = NULL;

    for (struct list *link = log->events.previous; link != &log->events; link = link->previous) {
        if (event_of(link)->number <= number)
            break;
        next = event_of(link);
    }
    return next;
}
