#include "environments/engine/init_protocol.h"

#define MICROSECONDS 1e6

enum { GO_NUMBER_BYTES = GO_BYTES / 3 };

static const struct wire_rule init_rules[INIT_FRAMES] = {
    [INIT_OUT] = {.most = INIT_PIECE_BYTES, .is_split = true},
    [INIT_ERRORS] = {.most = INIT_PIECE_BYTES, .is_split = true},
    [INIT_BEGUN] = {.most = 0},
    [INIT_NOT_BEGUN] = {.most = 0},
    [INIT_CELL] = {.least = LAST_WORDS_BYTES, .most = LAST_WORDS_BYTES},
    [INIT_ENDED] = {.least = LAST_WORDS_BYTES, .most = LAST_WORDS_BYTES},
    [INIT_GO] = {.least = GO_BYTES, .most = GO_BYTES},
    [INIT_CODE] = {.most = INIT_PIECE_BYTES, .is_split = true},
    [INIT_CELLS] = {.most = INIT_PIECE_BYTES, .is_split = true},
    [INIT_DISMISSAL] = {.most = 0},
    [INIT_TOOLS] = {.most = 0},
};

const struct wire_protocol init_protocol = {.types = INIT_FRAMES, .rules = init_rules};

const char init_dismissal[WIRE_HEAD_BYTES] = {INIT_DISMISSAL};
const char init_tools[WIRE_HEAD_BYTES] = {INIT_TOOLS};

struct go go_for(const struct stat *file)
{
    return (struct go){
        .device = (uint64_t)file->st_dev,
        .inode = (uint64_t)file->st_ino,
        .size = (uint64_t)file->st_size,
    };
}

struct go go_with_code(uint64_t size)
{
    return (struct go){.size = size};
}

/* No file has the number 0. */
bool go_has_code(const struct go *go)
{
    return go->inode == 0;
}

void go_encode(const struct go *go, char bytes[GO_BYTES])
{
    char *end = bytes;

    end = wire_put(end, go->device, GO_NUMBER_BYTES);
    end = wire_put(end, go->inode, GO_NUMBER_BYTES);
    wire_put(end, go->size, GO_NUMBER_BYTES);
}

struct go go_decode(const char bytes[GO_BYTES])
{
    struct go go;

    go.device = wire_take(&bytes, GO_NUMBER_BYTES);
    go.inode = wire_take(&bytes, GO_NUMBER_BYTES);
    go.size = wire_take(&bytes, GO_NUMBER_BYTES);
    return go;
}

bool go_is_for(const struct go *go, const struct stat *file)
{
    const struct go found = go_for(file);

    return S_ISREG(file->st_mode) && go->device == found.device && go->inode == found.inode &&
           go->size == found.size;
}

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
