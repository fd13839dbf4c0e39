/* Input: the size of the pieces, then a stream of stderr. In the stream "N" stands for the mark
 * that only an init knows. Nothing is lost, added or changed: what is output, and the words if
 * there are any, are the stream. */
#undef NDEBUG
#include "base/list.h"
#include "environments/engine/last_words.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONCE "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct listener {
    struct last_words_reader reader;
    const char *expected;
    size_t length;
    size_t seen;
};

static void on_output(struct last_words_reader *reader, const char *data, size_t length)
{
    struct listener *listener = CONTAINER_OF(reader, struct listener, reader);

    assert(length > 0 && length <= listener->length - listener->seen);
    assert(memcmp(listener->expected + listener->seen, data, length) == 0);
    listener->seen += length;
}

/* Each "N" of TEXT becomes a mark. Owned by the caller. */
static char *expand(const uint8_t *text, size_t size, size_t *ret_length)
{
    char *expanded = malloc(size * LAST_WORDS_MARK + 1);
    size_t length = 0;

    assert(expanded);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == 'N') {
            memcpy(expanded + length, "\0" NONCE, LAST_WORDS_MARK);
            length += LAST_WORDS_MARK;
        } else {
            expanded[length++] = (char)text[i];
        }
    }
    *ret_length = length;
    return expanded;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct listener listener = {.reader.output = on_output};
    size_t piece = size > 0 && data[0] > 0 ? data[0] : 1;
    struct last_words words;
    char *stream;

    if (size == 0)
        return 0;
    stream = expand(data + 1, size - 1, &listener.length);
    listener.expected = stream;
    last_words_reader_init(&listener.reader, NONCE);
    for (size_t i = 0; i < listener.length; i += piece)
        last_words_reader_feed(&listener.reader, stream + i,
                               listener.length - i < piece ? listener.length - i : piece);
    if (last_words_reader_end(&listener.reader, &words))
        listener.seen += LAST_WORDS_BYTES;
    assert(listener.seen == listener.length);
    free(stream);
    return 0;
}
