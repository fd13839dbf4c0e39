#include "environments/engine/wire.h"

#include "base/memory.h"

#include <string.h>

enum { WIRE_NUMBER_BYTES = WIRE_HEAD_BYTES / 2 };

/* By type. */
static const struct {
    bool is_split; /* what has come of it is handed on */
    size_t bytes;  /* at most of a split one, exactly of others */
} wire_types[WIRE_TYPES] = {
    [WIRE_OUT] = {.is_split = true, .bytes = WIRE_PIECE_BYTES},
    [WIRE_ERRORS] = {.is_split = true, .bytes = WIRE_PIECE_BYTES},
    [WIRE_BEGUN] = {.bytes = 0},
    [WIRE_NOT_BEGUN] = {.bytes = 0},
    [WIRE_CELL] = {.bytes = LAST_WORDS_BYTES},
    [WIRE_ENDED] = {.bytes = LAST_WORDS_BYTES},
    [WIRE_GO] = {.bytes = GO_BYTES},
    [WIRE_CODE] = {.is_split = true, .bytes = WIRE_PIECE_BYTES},
    [WIRE_CELLS] = {.is_split = true, .bytes = WIRE_PIECE_BYTES},
    [WIRE_DISMISSAL] = {.bytes = 0},
};

const char wire_dismissal[WIRE_HEAD_BYTES] = {WIRE_DISMISSAL};

char *wire_put(char *bytes, uint64_t number, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (char)(number >> 8 * i & 0xff);
    return bytes + count;
}

uint64_t wire_take(const char **bytes, size_t count)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number |= (uint64_t)(unsigned char)(*bytes)[i] << 8 * i;
    *bytes += count;
    return number;
}

void wire_put_head(char head[WIRE_HEAD_BYTES], enum wire_type type, size_t length)
{
    wire_put(wire_put(head, type, WIRE_NUMBER_BYTES), length, WIRE_NUMBER_BYTES);
}

/* Of the frame whose head is held. */
static uint64_t wire_reader_type(const struct wire_reader *reader)
{
    const char *bytes = reader->held;

    return wire_take(&bytes, WIRE_NUMBER_BYTES);
}

static uint64_t wire_reader_size(const struct wire_reader *reader)
{
    const char *bytes = reader->held + WIRE_NUMBER_BYTES;

    return wire_take(&bytes, WIRE_NUMBER_BYTES);
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

static bool wire_reader_is_sane(const struct wire_reader *reader)
{
    const uint64_t type = wire_reader_type(reader);
    const uint64_t size = wire_reader_size(reader);

    return type > 0 && type < WIRE_TYPES && size <= wire_types[type].bytes &&
           (wire_types[type].is_split || size == wire_types[type].bytes);
}

/* The head of a frame is there, and perhaps more of it. */
static void wire_reader_look(struct wire_reader *reader)
{
    const uint64_t type = wire_reader_type(reader);
    const uint64_t size = wire_reader_size(reader);

    if (!wire_reader_is_sane(reader)) {
        reader->state = WIRE_BROKEN;
    } else if (wire_types[type].is_split) {
        reader->left = size;
        reader->length = size > 0 ? reader->length : 0;
    } else if (reader->length == WIRE_HEAD_BYTES + size) {
        reader->length = 0;
        reader->message(reader, (enum wire_type)type, reader->held + WIRE_HEAD_BYTES);
    }
}

static size_t wire_reader_take_piece(struct wire_reader *reader, const char *data, size_t length)
{
    const size_t count = size_min(reader->left, length);

    reader->left -= count;
    if (reader->left == 0)
        reader->length = 0;
    reader->piece(reader, (enum wire_type)wire_reader_type(reader), data, count);
    return count;
}

static size_t wire_reader_take_frame(struct wire_reader *reader, const char *data, size_t length)
{
    size_t whole = WIRE_HEAD_BYTES;
    size_t count;

    if (reader->left > 0)
        return wire_reader_take_piece(reader, data, length);
    if (reader->length >= WIRE_HEAD_BYTES)
        whole += wire_reader_size(reader);
    count = size_min(whole - reader->length, length);
    memcpy(reader->held + reader->length, data, count);
    reader->length += count;
    if (reader->length >= WIRE_HEAD_BYTES)
        wire_reader_look(reader);
    return count;
}

/* The number of bytes that were taken. */
static size_t wire_reader_take(struct wire_reader *reader, const char *data, size_t length)
{
    switch (reader->state) {
    case WIRE_GREETING:
        return wire_reader_greet(reader, data, length);
    case WIRE_OPEN:
        return wire_reader_take_frame(reader, data, length);
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
    reader->state = WIRE_FOREIGN;
    reader->length = 0;
    if (count > 0)
        reader->foreign(reader, WIRE_HELLO, count);
}
