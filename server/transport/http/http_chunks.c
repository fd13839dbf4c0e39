#include "server/transport/http/http_chunks.h"

#include "base/ascii.h"
#include "base/memory.h"
#include "server/transport/http/http_head.h"

#include <string.h>
#include <strings.h>

/* Fields that have a meaning in the head and are refused in trailers. */
static const char *const forbidden[] = {"Content-Length", "Transfer-Encoding", "Host",
                                        "Connection"};

void http_chunks_init(struct http_chunks *chunks)
{
    *chunks = (struct http_chunks){.state = HTTP_CHUNKS_SIZE};
    buffer_init(&chunks->trailer, HTTP_TRAILER_BYTES);
}

void http_chunks_deinit(struct http_chunks *chunks)
{
    buffer_deinit(&chunks->trailer);
}

static enum http_chunks_state take_size(struct http_chunks *chunks, char character)
{
    int value = ascii_hex_value(character);

    if (value >= 0) {
        chunks->left = chunks->left << 4 | (unsigned)value;
        return chunks->digits++ < HTTP_CHUNK_DIGITS ? HTTP_CHUNKS_SIZE : HTTP_CHUNKS_BAD;
    }
    chunks->skipped = 0;
    chunks->has_value = false;
    if (chunks->digits == 0)
        return HTTP_CHUNKS_BAD;
    if (character == ';')
        return HTTP_CHUNKS_EXTENSION;
    return character == '\r' ? HTTP_CHUNKS_SIZE_END : HTTP_CHUNKS_BAD;
}

/* A name, or NAME=VALUE without quotes. Parsers disagree over anything beyond that, and no client
 * sends it. */
static enum http_chunks_state take_extension(struct http_chunks *chunks, char character)
{
    bool is_first_equals = character == '=' && !chunks->has_value;

    if (character == '\r')
        return chunks->skipped > 0 ? HTTP_CHUNKS_SIZE_END : HTTP_CHUNKS_BAD;
    if (!http_is_token(character) && !(is_first_equals && chunks->skipped > 0))
        return HTTP_CHUNKS_BAD;
    if (is_first_equals)
        chunks->has_value = true;
    return ++chunks->skipped > HTTP_CHUNK_EXTENSION_BYTES ? HTTP_CHUNKS_BAD : HTTP_CHUNKS_EXTENSION;
}

static enum http_chunks_state take_size_end(struct http_chunks *chunks, char character)
{
    chunks->digits = 0;
    if (character != '\n')
        return HTTP_CHUNKS_BAD;
    return chunks->left > 0 ? HTTP_CHUNKS_DATA : HTTP_CHUNKS_TRAILER;
}

static enum http_chunks_state take_data_end(struct http_chunks *chunks, char character)
{
    if (character != "\r\n"[chunks->skipped++])
        return HTTP_CHUNKS_BAD;
    return chunks->skipped == 2 ? HTTP_CHUNKS_SIZE : HTTP_CHUNKS_DATA_END;
}

static bool http_chunks_is_forbidden(const struct http_head *trailer)
{
    for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++)
        if (http_head_find(trailer, forbidden[i], NULL))
            return true;
    return false;
}

static bool http_chunks_ends_with(const struct buffer *trailer, const char *end)
{
    size_t length = buffer_length(trailer);
    size_t wanted = strlen(end);

    return length >= wanted && memcmp(buffer_bytes(trailer) + length - wanted, end, wanted) == 0;
}

/* Kept until all of it is there. */
static enum http_chunks_state take_trailer(struct http_chunks *chunks, char character)
{
    struct http_head fields = {0};
    struct error err = ERROR_INIT;

    if (character == '\0' || buffer_append(&chunks->trailer, &character, 1, &err) < 0)
        return HTTP_CHUNKS_BAD;
    if (character != '\n')
        return HTTP_CHUNKS_TRAILER;
    if (!http_chunks_ends_with(&chunks->trailer, "\r\n"))
        return HTTP_CHUNKS_BAD;
    if (buffer_length(&chunks->trailer) > 2 && !http_chunks_ends_with(&chunks->trailer, "\r\n\r\n"))
        return HTTP_CHUNKS_TRAILER;
    if (http_head_parse_fields(buffer_bytes(&chunks->trailer), buffer_length(&chunks->trailer) - 2,
                               &fields) != 0 ||
        http_chunks_is_forbidden(&fields))
        return HTTP_CHUNKS_BAD;
    return HTTP_CHUNKS_COMPLETE;
}

static enum http_chunks_state http_chunks_take(struct http_chunks *chunks, char character)
{
    switch (chunks->state) {
    case HTTP_CHUNKS_SIZE:
        return take_size(chunks, character);
    case HTTP_CHUNKS_EXTENSION:
        return take_extension(chunks, character);
    case HTTP_CHUNKS_SIZE_END:
        return take_size_end(chunks, character);
    case HTTP_CHUNKS_DATA_END:
        return take_data_end(chunks, character);
    case HTTP_CHUNKS_TRAILER:
        return take_trailer(chunks, character);
    case HTTP_CHUNKS_DATA:
    case HTTP_CHUNKS_COMPLETE:
    case HTTP_CHUNKS_BAD:
        break;
    }
    return HTTP_CHUNKS_BAD;
}

/* The piece of data that LENGTH bytes begin with. */
static size_t take_data(struct http_chunks *chunks, size_t length)
{
    size_t piece = chunks->left < length ? (size_t)chunks->left : length;

    chunks->left -= piece;
    if (chunks->left == 0) {
        chunks->skipped = 0;
        chunks->state = HTTP_CHUNKS_DATA_END;
    }
    return piece;
}

size_t http_chunks_feed(struct http_chunks *chunks, const char *bytes, size_t length,
                        size_t *ret_piece)
{
    size_t used = 0;

    *ret_piece = 0;
    while (used < length && chunks->state < HTTP_CHUNKS_COMPLETE) {
        if (chunks->state == HTTP_CHUNKS_DATA) {
            *ret_piece = take_data(chunks, length - used);
            return used + *ret_piece;
        }
        chunks->state = http_chunks_take(chunks, bytes[used++]);
    }
    return used;
}
