#include "environments/engine/frames.h"

#include "base/memory.h"

#include <string.h>

enum { LENGTH_AT = 4 };

/* Bytes of DATA that were taken for the header. */
static size_t collect_header(struct frames *frames, const char *data, size_t length)
{
    size_t taken = size_min(FRAME_HEADER_BYTES - frames->header_length, length);

    memcpy(frames->header + frames->header_length, data, taken);
    frames->header_length += taken;
    return taken;
}

static int read_header(struct frames *frames, struct error *err)
{
    const unsigned char *header = frames->header;

    frames->left = (uint32_t)header[LENGTH_AT] << 24 | (uint32_t)header[LENGTH_AT + 1] << 16 |
                   (uint32_t)header[LENGTH_AT + 2] << 8 | (uint32_t)header[LENGTH_AT + 3];
    if (header[0] >= FRAME_STREAMS || header[1] || header[2] || header[3] ||
        frames->left > FRAME_BYTES)
        return error_set(err, ERROR_SYSTEM, "the engine's stream of output is garbled");
    if (frames->left == 0)
        frames->header_length = 0;
    return 0;
}

/* Bytes of DATA that were handed on. */
static size_t hand_on(struct frames *frames, const char *data, size_t length)
{
    size_t taken = size_min(frames->left, length);
    enum frame_stream stream = frames->header[0] == FRAME_STDERR ? FRAME_STDERR : FRAME_STDOUT;

    frames->left -= (uint32_t)taken;
    if (frames->left == 0)
        frames->header_length = 0;
    frames->output(frames, stream, data, taken);
    return taken;
}

int frames_feed(struct frames *frames, const char *data, size_t length, struct error *err)
{
    while (length > 0) {
        size_t taken;

        if (frames->header_length == FRAME_HEADER_BYTES) {
            taken = hand_on(frames, data, length);
        } else {
            taken = collect_header(frames, data, length);
            if (frames->header_length == FRAME_HEADER_BYTES && read_header(frames, err) < 0)
                return -1;
        }
        data += taken;
        length -= taken;
    }
    return 0;
}

bool frames_are_whole(const struct frames *frames)
{
    return frames->header_length == 0;
}
