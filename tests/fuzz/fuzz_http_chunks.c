/* Input: a byte that says in what pieces the rest comes, and the rest: a chunked body and what
 * follows it. What is made of it does not depend on the pieces. */
#undef NDEBUG
#include "base/memory.h"
#include "server/transport/http/http_body.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT_BYTES = 300 };

/* What is made of SIZE bytes in pieces of STEP; BODY is to be released. */
static enum http_body_state feed(struct http_body *body, const char *bytes, size_t size,
                                 size_t step, size_t *ret_used)
{
    static const struct http_head head = {.is_chunked = true};
    enum http_body_state state = HTTP_BODY_PARTIAL;

    http_body_init(body);
    http_body_begin(body, &head, LIMIT_BYTES);
    *ret_used = 0;
    while (state == HTTP_BODY_PARTIAL && *ret_used < size) {
        size_t piece = size - *ret_used < step ? size - *ret_used : step;
        char *copy = memory_new(piece, 1);
        size_t used;

        memcpy(copy, bytes + *ret_used, piece);
        state = http_body_feed(body, copy, piece, &used);
        assert(used <= piece && (state != HTTP_BODY_PARTIAL || used == piece));
        *ret_used += used;
        free(copy);
    }
    assert(buffer_length(&body->bytes) <= LIMIT_BYTES);
    return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data + 1;
    struct http_body whole;
    struct http_body pieces;
    enum http_body_state state;
    size_t whole_used;
    size_t used;

    if (size == 0)
        return 0;
    state = feed(&whole, bytes, size - 1, size, &whole_used);
    assert(feed(&pieces, bytes, size - 1, data[0] % 16 + 1, &used) == state);
    if (state == HTTP_BODY_COMPLETE) {
        assert(used == whole_used);
        assert(buffer_length(&whole.bytes) == buffer_length(&pieces.bytes));
        assert(memcmp(buffer_bytes(&whole.bytes), buffer_bytes(&pieces.bytes),
                      buffer_length(&whole.bytes)) == 0);
    }
    http_body_deinit(&whole);
    http_body_deinit(&pieces);
    return 0;
}
