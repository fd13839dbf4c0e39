/* Input: the size of the pieces, 128 more for the protocol of trees in place of that of inits, and
 * 192 more for that of nodes; then what comes over a wire. In it "H" stands for a hello. Fed in
 * pieces it is what it is in one; nothing comes out that did not go in, and a stream without a
 * hello comes out as it is. */
#undef NDEBUG
#include "base/list.h"
#include "base/wire_reader.h"
#include "environments/engine/init_protocol.h"
#include "environments/nodes/node_protocol.h"
#include "environments/process/control.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    FOREIGN,
    STREAMS = 32, /* no protocol has more types */
    MOST_PIECE = 64,
    OF_TREES = 128,
    OF_NODES = 192,
};

struct hearing {
    struct wire_reader reader;
    char *heard[STREAMS]; /* owned: by type; what is foreign has none */
    size_t length[STREAMS];
};

static void hear(struct hearing *hearing, size_t stream, const char *data, size_t length)
{
    assert(length > 0);
    memcpy(hearing->heard[stream] + hearing->length[stream], data, length);
    hearing->length[stream] += length;
}

static void on_frame(struct wire_reader *reader, uint32_t type, const char *data, size_t length)
{
    const struct wire_rule *rule = &reader->protocol->rules[type];
    struct hearing *hearing = CONTAINER_OF(reader, struct hearing, reader);

    assert(type < STREAMS && length <= rule->most && (rule->is_split || length >= rule->least));
    if (length > 0)
        hear(hearing, type, data, length);
    else
        hear(hearing, type, "-", 1);
}

static void on_foreign(struct wire_reader *reader, const char *data, size_t length)
{
    hear(CONTAINER_OF(reader, struct hearing, reader), FOREIGN, data, length);
}

/* HEARING has its protocol. */
static void listen(struct hearing *hearing, const char *stream, size_t length, size_t piece)
{
    hearing->reader.frame = on_frame;
    hearing->reader.foreign = on_foreign;
    for (size_t i = 0; i < STREAMS; i++) {
        hearing->heard[i] = malloc(length + 1);
        assert(hearing->heard[i]);
    }
    for (size_t i = 0; i < length; i += piece)
        wire_reader_feed(&hearing->reader, stream + i, length - i < piece ? length - i : piece);
    wire_reader_end(&hearing->reader);
    wire_reader_deinit(&hearing->reader);
}

/* Each "H" of TEXT becomes a hello. Owned by the caller. */
static char *expand(const uint8_t *text, size_t size, size_t *ret_length)
{
    char *expanded = malloc(size * WIRE_HELLO_BYTES + 1);
    size_t length = 0;

    assert(expanded);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == 'H') {
            memcpy(expanded + length, WIRE_HELLO, WIRE_HELLO_BYTES);
            length += WIRE_HELLO_BYTES;
        } else {
            expanded[length++] = (char)text[i];
        }
    }
    *ret_length = length;
    return expanded;
}

static const struct wire_protocol *choose(uint8_t choice)
{
    if (choice < OF_TREES)
        return &init_protocol;
    return choice < OF_NODES ? &control_protocol : &node_protocol;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hearing whole = {0};
    struct hearing pieces = {0};
    char *stream;
    size_t length;

    if (size < 2)
        return 0;
    whole.reader.protocol = choose(data[0]);
    pieces.reader.protocol = whole.reader.protocol;
    stream = expand(data + 1, size - 1, &length);
    listen(&whole, stream, length, length);
    listen(&pieces, stream, length, 1 + (size_t)data[0] % MOST_PIECE);
    if (whole.reader.state == WIRE_FOREIGN)
        assert(whole.length[FOREIGN] == length &&
               memcmp(whole.heard[FOREIGN], stream, length) == 0);
    for (size_t i = 0; i < STREAMS; i++) {
        assert(whole.length[i] == pieces.length[i]);
        assert(memcmp(whole.heard[i], pieces.heard[i], whole.length[i]) == 0);
        free(whole.heard[i]);
        free(pieces.heard[i]);
    }
    free(stream);
    return 0;
}
