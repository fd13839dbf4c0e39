#include "environments/engine/wire.h"

#include "base/memory.h"

#include <string.h>

enum { WIRE_NUMBER_BYTES = WIRE_HEAD_BYTES / 2 };

/* By type. */
static const struct {
    bool is_output;
    size_t bytes; /* at most of output, exactly of others */
} wire_types[WIRE_TYPES] = {
    [WIRE_OUT] = {.is_output = true, .bytes = WIRE_PIECE_BYTES},
    [WIRE_ERRORS] = {.is_output = true, .bytes = WIRE_PIECE_BYTES},
    [WIRE_BEGUN] = {.bytes = 0},
    [WIRE_CELL] = {.bytes = LAST_WORDS_BYTES},
    [WIRE_ENDED] = {.bytes = LAST_WORDS_BYTES},
};

static void wire_put_number(char *bytes, size_t number)
{
    for (size_t i = 0; i < WIRE_NUMBER_BYTES; i++)
        bytes[i] = (char)(number >> 8 * i & 0xff);
}

static uint32_t wire_number(const char *bytes)
{
    uint32_t number = 0;

    for (size_t i = WIRE_NUMBER_BYTES; i-- > 0;)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

void wire_put_head(char head[WIRE_HEAD_BYTES], enum wire_type type, size_t length)
{
    wire_put_number(head, type);
    wire_put_number(head + WIRE_NUMBER_BYTES, length);
}

/* The hello is not held: as far as it has come, it is known. */
static size_t wire_reader_greet(struct wire_reader *reader, const char *data, size_t length)
{
    const size_t count = size_min(WIRE_HELLO_BYTES - reader->length, length);

    if (memcmp(WIRE_HELLO + reader->length, data, count) != 0) {
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

static void wire_reader_finish_frame(struct wire_reader *reader, enum wire_type type)
{
    reader->length = 0;
    reader->message(reader, type, reader->held + WIRE_HEAD_BYTES);
}

/* The head of a frame is there, and perhaps more of it. */
static void wire_reader_look(struct wire_reader *reader)
{
    const uint32_t type = wire_number(reader->held);
    const uint32_t length = wire_number(reader->held + WIRE_NUMBER_BYTES);

    if (type == 0 || type >= WIRE_TYPES || length > wire_types[type].bytes ||
        (!wire_types[type].is_output && length < wire_types[type].bytes)) {
        reader->state = WIRE_BROKEN;
    } else if (wire_types[type].is_output) {
        reader->left = length;
        reader->length = length > 0 ? reader->length : 0;
    } else if (reader->length == WIRE_HEAD_BYTES + length) {
        wire_reader_finish_frame(reader, (enum wire_type)type);
    }
}

static size_t wire_reader_take_output(struct wire_reader *reader, const char *data, size_t length)
{
    const size_t count = size_min(reader->left, length);

    reader->left -= count;
    if (reader->left == 0)
        reader->length = 0;
    reader->output(reader, (enum wire_type)wire_number(reader->held), data, count);
    return count;
}

static size_t wire_reader_take_frame(struct wire_reader *reader, const char *data, size_t length)
{
    size_t whole = WIRE_HEAD_BYTES;
    size_t count;

    if (reader->left > 0)
        return wire_reader_take_output(reader, data, length);
    if (reader->length >= WIRE_HEAD_BYTES)
        whole += wire_number(reader->held + WIRE_NUMBER_BYTES);
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
