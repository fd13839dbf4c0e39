/* The output of a container without a terminal, as an engine sends it: frames of one stream each,
 * behind a header of eight bytes {stream, 0, 0, 0, length in big endian}. A frame may be longer
 * than any buffer: its pieces are handed on as they come. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frame_stream {
    FRAME_STDIN, /* engines name it when there is nothing to read; taken as stdout */
    FRAME_STDOUT,
    FRAME_STDERR,
    FRAME_STREAMS,
};

enum {
    FRAME_HEADER_BYTES = 8,
    FRAME_BYTES = 16 * 1024 * 1024, /* a greater length is an error */
};

struct frames {
    /* Input. */
    void (*output)(struct frames *frames, enum frame_stream stream, const char *data,
                   size_t length);

    /* Private. */
    unsigned char header[FRAME_HEADER_BYTES];
    size_t header_length; /* bytes of the header that have come */
    uint32_t left;        /* bytes of the frame that have not come */
};

/* FRAMES is zeroed but for its input. Hands on the output in DATA. -1 with ERR when DATA is not
 * made of frames. `output` must not end the owner of FRAMES. */
int frames_feed(struct frames *frames, const char *data, size_t length, struct error *err);

/* True between two frames: a stream that ends elsewhere was cut off. */
bool frames_are_whole(const struct frames *frames);
