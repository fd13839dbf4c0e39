#include "environments/engine/go.h"

#include "base/wire.h"

enum { GO_NUMBER_BYTES = GO_BYTES / 3 };

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
