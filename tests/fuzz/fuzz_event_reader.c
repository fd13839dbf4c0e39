/* A stream of events from a server that is not trusted, whole and in pieces: the same events. */
#include "base/list.h"
#include "base/memory.h"
#include "toolbox/event_reader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BYTES = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    struct event_reader reader;
    size_t count;
    size_t bytes;
};

static void on_event(struct event_reader *reader, const char *type, char *data, size_t length)
{
    struct heard *heard = CONTAINER_OF(reader, struct heard, reader);

    if (data[length] || !*type || length > LIMIT_BYTES)
        abort();
    data[0] = '\0';
    heard->count++;
    heard->bytes += length;
}

static int feed(struct heard *heard, const char *bytes, size_t size, size_t piece)
{
    struct error err = ERROR_INIT;
    int ret = 0;

    *heard = (struct heard){0};
    event_reader_init(&heard->reader, LIMIT_BYTES, on_event);
    for (size_t at = 0; ret == 0 && at < size; at += piece)
        ret = event_reader_feed(&heard->reader, bytes + at, size_min(piece, size - at), &err);
    event_reader_deinit(&heard->reader);
    return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct heard whole;
    struct heard single;
    const int ret = feed(&whole, bytes, size, size ? size : 1);

    if (feed(&single, bytes, size, 1) != ret || whole.count != single.count ||
        whole.bytes != single.bytes)
        abort();
    return 0;
}
