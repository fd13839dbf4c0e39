#include "environments/engine/go.h"

enum { GO_DIGITS = GO_BYTES / 3 };

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

struct go go_for_nothing(void)
{
    return (struct go){.device = UINT64_MAX, .inode = UINT64_MAX, .size = UINT64_MAX};
}

static void go_put(char *digits, uint64_t number)
{
    for (int i = GO_DIGITS; i-- > 0; number >>= 4)
        digits[i] = "0123456789abcdef"[number & 0xf];
}

static uint64_t go_take(const char *digits)
{
    uint64_t number = 0;

    for (int i = 0; i < GO_DIGITS; i++)
        number =
            number << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
    return number;
}

void go_encode(const struct go *go, char bytes[GO_BYTES])
{
    go_put(bytes, go->device);
    go_put(bytes + GO_DIGITS, go->inode);
    go_put(bytes + 2 * GO_DIGITS, go->size);
}

struct go go_decode(const char bytes[GO_BYTES])
{
    return (struct go){
        .device = go_take(bytes),
        .inode = go_take(bytes + GO_DIGITS),
        .size = go_take(bytes + 2 * GO_DIGITS),
    };
}

bool go_is_for(const struct go *go, const struct stat *file)
{
    const struct go found = go_for(file);

    return S_ISREG(file->st_mode) && go->device == found.device && go->inode == found.inode &&
           go->size == found.size;
}
