#include "base/executable.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <string.h>
#include <unistd.h>

char *executable_find(const char *path, const char *name)
{
    if (*name == '/')
        return memory_copy_string(name);
    while (*path) {
        const size_t length = strcspn(path, ":");
        AUTO_FREE char *file = memory_format("%.*s/%s", (int)length, path, name);

        if (*path == '/' && access(file, X_OK) == 0)
            return STEAL_PTR(file);
        path += length + (path[length] == ':');
    }
    return NULL;
}
