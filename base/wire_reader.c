#include "base/wire_reader.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool wire_reader_is_split(const struct wire_reader *reader)
{
    return reader->protocol->rules[reader->head.type].is_split;
}

static char *wire_reader_place(struct wire_reader *reader)
{
    return reader->large ? reader->large : reader->held;
}

/* The hello is not held: as far as it has come, it is known. */
static size_t wire_reader_greet(struct wire_reader *reader, const char *data, size_t length)
{
    const size_t count = size_min(WIRE_HELLO_BYTES - reader->length, length);

    if (memcmp(&WIRE_HELLO[reader->length], data, count) != 0) {
        wire_reader_end(reader);
        return 0;
    }
    reader->length += count;
    if (reader->length == WIRE_HELLO_BYTES) {
        reader->state = WIRE_OPEN;
        reader->length = 0;
    }
    return count;
}

/* The rest of the frame is there. */
static void wire_reader_leave(struct wire_reader *reader)
{
    reader->state = WIRE_OPEN;
    reader->length = 0;
    if (!wire_reader_is_split(reader))
        reader->frame(reader, reader->head.type, wire_reader_place(reader), reader->head.length);
    wire_reader_deinit(reader);
}

static void wire_reader_enter(struct wire_reader *reader)
{
    reader->length = 0;
    reader->state = WIRE_INSIDE;
    if (!wire_take_head(reader->protocol, reader->held, &reader->head))
        reader->state = WIRE_BROKEN;
    else if (reader->head.length == 0)
        wire_reader_leave(reader);
    else if (reader->head.length > WIRE_HELD_BYTES && !wire_reader_is_split(reader))
        reader->large = memory_resize(NULL, reader->head.length);
}

static size_t wire_reader_take_head(struct wire_reader *reader, const char *data, size_t length)
{
    const size_t count = size_min(WIRE_HEAD_BYTES - reader->length, length);

    memcpy(reader->held + reader->length, data, count);
    reader->length += count;
    if (reader->length == WIRE_HEAD_BYTES)
        wire_reader_enter(reader);
    return count;
}

static size_t wire_reader_take_rest(struct wire_reader *reader, const char *data, size_t length)
{
    const size_t count = size_min(reader->head.length - reader->length, length);

    if (wire_reader_is_split(reader))
        reader->frame(reader, reader->head.type, data, count);
    else
        memcpy(wire_reader_place(reader) + reader->length, data, count);
    reader->length += count;
    if (reader->length == reader->head.length)
        wire_reader_leave(reader);
    return count;
}

/* The number of bytes that were taken. */
static size_t wire_reader_take(struct wire_reader *reader, const char *data, size_t length)
{
    switch (reader->state) {
    case WIRE_GREETING:
        return wire_reader_greet(reader, data, length);
    case WIRE_OPEN:
        return wire_reader_take_head(reader, data, length);
    case WIRE_INSIDE:
        return wire_reader_take_rest(reader, data, length);
    case WIRE_FOREIGN:
        reader->foreign(reader, data, length);
        return length;
    case WIRE_BROKEN:
    default:
        return length;
    }
}

void wire_reader_feed(struct wire_reader *reader, const char *data, size_t length)
{
    for (size_t done = 0; done < length;)
        done += wire_reader_take(reader, data + done, length - done);
}

void wire_reader_end(struct wire_reader *reader)
{
    const size_t count = reader->length;

    if (reader->state != WIRE_GREETING)
        return;
    reader->state = reader->foreign ? WIRE_FOREIGN : WIRE_BROKEN;
    reader->length = 0;
    if (count > 0 && reader->foreign)
        reader->foreign(reader, WIRE_HELLO, count);
}

void wire_reader_deinit(struct wire_reader *reader)
{
    free(reader->large);
    reader->large = NULL;
}
