#include "environments/engine/last_words.h"

#include "base/wire.h"

#define MICROSECONDS 1e6

void last_words_encode(const struct last_words *words, char bytes[LAST_WORDS_BYTES])
{
    char *end = bytes;

    end = wire_put(end, (uint32_t)words->status, 4);
    end = wire_put(end, (uint32_t)words->failure, 4);
    end = wire_put(end, words->leftovers, 4);
    end = wire_put(end, words->flags, 4);
    end = wire_put(end, (uint64_t)(words->run_seconds * MICROSECONDS), 8);
    end = wire_put(end, (uint64_t)(words->cpu_seconds * MICROSECONDS), 8);
    wire_put(end, words->peak_bytes, 8);
}

struct last_words last_words_decode(const char bytes[LAST_WORDS_BYTES])
{
    struct last_words words;

    words.status = (int32_t)wire_take(&bytes, 4);
    words.failure = (int32_t)wire_take(&bytes, 4);
    words.leftovers = (uint32_t)wire_take(&bytes, 4);
    words.flags = (uint32_t)wire_take(&bytes, 4);
    words.run_seconds = (double)wire_take(&bytes, 8) / MICROSECONDS;
    words.cpu_seconds = (double)wire_take(&bytes, 8) / MICROSECONDS;
    words.peak_bytes = wire_take(&bytes, 8);
    return words;
}
