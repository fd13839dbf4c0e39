#include "environments/interpreter/search_path.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

const char *search_path(void)
{
    const char *path = getenv("PATH");

    return path && *path ? path : DEFAULT_PATH;
}

bool search_path_is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *search_path_find(const char *name, size_t position)
{
    const char *directory = search_path();

    while (*directory) {
        size_t length = strcspn(directory, ":");
        AUTO_FREE char *path = memory_format("%.*s/%s", (int)length, directory, name);

        if (path[0] == '/' && length > 0 && search_path_is_program(path) && position-- == 0)
            return STEAL_PTR(path);
        directory += length + (directory[length] == ':');
    }
    return NULL;
}
