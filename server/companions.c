#include "server/companions.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

char *companions_find(const char *name)
{
    static const char *const places[] = {"", "../libexec/pyexecd/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *slash;

    program[length > 0 ? length : 0] = '\0';
    slash = strrchr(program, '/');
    for (size_t i = 0; slash && i < ARRAY_SIZE(places); i++) {
        AUTO_FREE char *found =
            memory_format("%.*s/%s%s", (int)(slash - program), program, places[i], name);

        if (access(found, X_OK) == 0)
            return STEAL_PTR(found);
    }
    return memory_format(PYEXECD_LIBEXECDIR "/%s", name);
}
