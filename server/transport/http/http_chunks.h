/* A chunked body (RFC 9112, 7.1), as strictly as the head is read. The extension of a chunk is
 * passed over, and so are the fields behind the last chunk; both are bounded. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HTTP_CHUNK_DIGITS = 16,
    HTTP_CHUNK_EXTENSION_BYTES = 256,
    HTTP_TRAILER_BYTES = 4 * 1024,
};

enum http_chunks_state {
    HTTP_CHUNKS_SIZE,
    HTTP_CHUNKS_EXTENSION,
    HTTP_CHUNKS_SIZE_END, /* \n is to come */
    HTTP_CHUNKS_DATA,
    HTTP_CHUNKS_DATA_END, /* \r\n is to come */
    HTTP_CHUNKS_TRAILER,
    HTTP_CHUNKS_COMPLETE,
    HTTP_CHUNKS_BAD,
};

struct http_chunks {
    enum http_chunks_state state;
    uint64_t left;    /* of the chunk's data, or its size as far as it is known */
    unsigned digits;  /* of the size */
    unsigned skipped; /* bytes of the extension; of DATA_END */
    bool has_value;   /* the extension */
    struct buffer trailer;
};

void http_chunks_init(struct http_chunks *chunks);
void http_chunks_deinit(struct http_chunks *chunks);

/* Goes through BYTES until a piece of data, COMPLETE or BAD; returns how many were used. The piece
 * is the last *RET_PIECE bytes of these; 0: there is none. LENGTH must not be 0. */
size_t http_chunks_feed(struct http_chunks *chunks, const char *bytes, size_t length,
                        size_t *ret_piece);
