#include "environments/engine/last_words.h"

#include <string.h>

#define MICROSECONDS 1e6

static char *last_words_put(char *bytes, uint64_t value, size_t length)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(value >> 8 * i & 0xff);
    return bytes + length;
}

static uint64_t last_words_take(const char **bytes, size_t length)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++)
        value |= (uint64_t)(unsigned char)(*bytes)[i] << 8 * i;
    *bytes += length;
    return value;
}

static void make_mark(char mark[LAST_WORDS_MARK], const char *nonce)
{
    mark[0] = '\0';
    memcpy(mark + 1, nonce, LAST_WORDS_NONCE);
}

void last_words_encode(const struct last_words *words, const char *nonce,
                       char bytes[LAST_WORDS_BYTES])
{
    char *end = bytes + LAST_WORDS_MARK;

    make_mark(bytes, nonce);
    end = last_words_put(end, (uint32_t)words->status, 4);
    end = last_words_put(end, (uint32_t)words->failure, 4);
    end = last_words_put(end, words->leftovers, 4);
    end = last_words_put(end, words->flags, 4);
    end = last_words_put(end, (uint64_t)(words->run_seconds * MICROSECONDS), 8);
    end = last_words_put(end, (uint64_t)(words->cpu_seconds * MICROSECONDS), 8);
    last_words_put(end, words->peak_bytes, 8);
}

void last_words_decode(struct last_words *words, const char bytes[LAST_WORDS_BYTES])
{
    const char *at = bytes + LAST_WORDS_MARK;

    words->status = (int32_t)last_words_take(&at, 4);
    words->failure = (int32_t)last_words_take(&at, 4);
    words->leftovers = (uint32_t)last_words_take(&at, 4);
    words->flags = (uint32_t)last_words_take(&at, 4);
    words->run_seconds = (double)last_words_take(&at, 8) / MICROSECONDS;
    words->cpu_seconds = (double)last_words_take(&at, 8) / MICROSECONDS;
    words->peak_bytes = last_words_take(&at, 8);
}

void last_words_reader_init(struct last_words_reader *reader, const char *nonce)
{
    reader->length = 0;
    make_mark(reader->mark, nonce);
}

static void release_held(struct last_words_reader *reader)
{
    if (reader->length > 0)
        reader->output(reader, reader->held, reader->length);
    reader->length = 0;
}

/* True when BYTE can follow what is held. The NUL of a mark is its first byte and has no second,
 * so no other mark can begin inside what is held. */
static bool last_words_continues(const struct last_words_reader *reader, char byte)
{
    if (reader->length == LAST_WORDS_BYTES)
        return false; /* they were not the last */
    return reader->length >= LAST_WORDS_MARK || reader->mark[reader->length] == byte;
}

static size_t last_words_hold(struct last_words_reader *reader, const char *data, size_t length)
{
    size_t i = 0;

    while (i < length && last_words_continues(reader, data[i]))
        reader->held[reader->length++] = data[i++];
    return i;
}

/* Outputs what comes before the next byte that could begin a mark. */
static size_t last_words_pass(struct last_words_reader *reader, const char *data, size_t length)
{
    const char *begin = length ? memchr(data, '\0', length) : NULL;
    size_t count = begin ? (size_t)(begin - data) : length;

    if (count > 0)
        reader->output(reader, data, count);
    return count;
}

void last_words_reader_feed(struct last_words_reader *reader, const char *data, size_t length)
{
    for (size_t done = 0; done < length;) {
        if (reader->length == 0)
            done += last_words_pass(reader, data + done, length - done);
        done += last_words_hold(reader, data + done, length - done);
        if (done < length)
            release_held(reader);
    }
}

size_t last_words_reader_feed_first(struct last_words_reader *reader, const char *data,
                                    size_t length, bool *ret_has, struct last_words *ret_words)
{
    size_t done = 0;

    while (done < length && reader->length < LAST_WORDS_BYTES) {
        if (reader->length == 0)
            done += last_words_pass(reader, data + done, length - done);
        done += last_words_hold(reader, data + done, length - done);
        if (done < length && reader->length < LAST_WORDS_BYTES)
            release_held(reader);
    }
    *ret_has = last_words_reader_peek(reader, ret_words);
    if (*ret_has)
        reader->length = 0;
    return done;
}

bool last_words_reader_peek(const struct last_words_reader *reader, struct last_words *ret_words)
{
    if (reader->length < LAST_WORDS_BYTES)
        return false;
    last_words_decode(ret_words, reader->held);
    return true;
}

bool last_words_reader_end(struct last_words_reader *reader, struct last_words *ret_words)
{
    bool has_words = last_words_reader_peek(reader, ret_words);

    if (!has_words)
        release_held(reader);
    reader->length = 0;
    return has_words;
}
