/* Input: the size of the pieces, then what an engine sends as a container's output. Fed in pieces
 * it is what it is in one: the same bytes for each stream, or the same refusal; nothing comes out
 * that did not go in. */
#undef NDEBUG
#include "base/list.h"
#include "environments/engine/frames.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct listener {
    struct frames frames;
    char *seen[FRAME_STREAMS]; /* owned */
    size_t length[FRAME_STREAMS];
};

static void on_output(struct frames *frames, enum frame_stream stream, const char *data,
                      size_t length)
{
    struct listener *listener = CONTAINER_OF(frames, struct listener, frames);

    assert(length > 0 && (stream == FRAME_STDOUT || stream == FRAME_STDERR));
    memcpy(listener->seen[stream] + listener->length[stream], data, length);
    listener->length[stream] += length;
}

static int feed(struct listener *listener, const uint8_t *data, size_t size, size_t piece)
{
    struct error err = ERROR_INIT;

    *listener = (struct listener){.frames.output = on_output};
    for (size_t i = 0; i < FRAME_STREAMS; i++) {
        listener->seen[i] = malloc(size + 1);
        assert(listener->seen[i]);
    }
    for (size_t i = 0; i < size; i += piece)
        if (frames_feed(&listener->frames, (const char *)data + i,
                        size - i < piece ? size - i : piece, &err) < 0)
            return -1;
    return frames_are_whole(&listener->frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct listener whole;
    struct listener pieces;

    if (size < 2)
        return 0;
    assert(feed(&whole, data + 1, size - 1, size) ==
           feed(&pieces, data + 1, size - 1, 1 + (size_t)data[0]));
    assert(whole.length[FRAME_STDOUT] + whole.length[FRAME_STDERR] < size);
    for (size_t i = 0; i < FRAME_STREAMS; i++) {
        assert(whole.length[i] == pieces.length[i]);
        assert(memcmp(whole.seen[i], pieces.seen[i], whole.length[i]) == 0);
        free(whole.seen[i]);
        free(pieces.seen[i]);
    }
    return 0;
}
