#include "environments/engine/last_words.h"

#include <stddef.h>

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

void last_words_encode(const struct last_words *words, char bytes[LAST_WORDS_BYTES])
{
    char *end = bytes;

    end = last_words_put(end, (uint32_t)words->status, 4);
    end = last_words_put(end, (uint32_t)words->failure, 4);
    end = last_words_put(end, words->leftovers, 4);
    end = last_words_put(end, words->flags, 4);
    end = last_words_put(end, (uint64_t)(words->run_seconds * MICROSECONDS), 8);
    end = last_words_put(end, (uint64_t)(words->cpu_seconds * MICROSECONDS), 8);
    last_words_put(end, words->peak_bytes, 8);
}

struct last_words last_words_decode(const char bytes[LAST_WORDS_BYTES])
{
    struct last_words words;

    words.status = (int32_t)last_words_take(&bytes, 4);
    words.failure = (int32_t)last_words_take(&bytes, 4);
    words.leftovers = (uint32_t)last_words_take(&bytes, 4);
    words.flags = (uint32_t)last_words_take(&bytes, 4);
    words.run_seconds = (double)last_words_take(&bytes, 8) / MICROSECONDS;
    words.cpu_seconds = (double)last_words_take(&bytes, 8) / MICROSECONDS;
    words.peak_bytes = last_words_take(&bytes, 8);
    return words;
}
