#include "environments/real_path.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where the last part of PATH begins, which is not "/". */
static const char *last_part(const char *path)
{
    const char *end = path + strlen(path);

    while (end > path && end[-1] == '/')
        end--;
    while (end > path && end[-1] != '/')
        end--;
    return end;
}

/* DIRECTORY, a real path, with NAME. NULL if NAME exists there, even as a link. Owned by the
 * caller. */
static char *join_missing(const char *directory, const char *name)
{
    size_t length = strcspn(name, "/");
    AUTO_FREE char *path =
        memory_format("%s%s%.*s", directory, directory[1] ? "/" : "", (int)length, name);
    struct stat status;

    if (lstat(path, &status) == 0 || errno != ENOENT)
        return NULL;
    return STEAL_PTR(path);
}

static bool is_dots(const char *name)
{
    size_t length = strcspn(name, "/");

    return length == strspn(name, ".") && length <= 2;
}

/* Resolves the part of PATH that exists, and appends the rest. */
static char *real_path_resolve(const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL);
    AUTO_FREE char *directory = NULL;
    const char *name = last_part(path);

    if (real || errno != ENOENT || name == path || is_dots(name))
        return STEAL_PTR(real);
    directory = memory_format("%.*s", (int)(name - path), path);
    real = real_path_resolve(directory);
    return real ? join_missing(real, name) : NULL;
}

char *real_path_find(const char *path, struct error *err)
{
    char *real;

    if (*path != '/') {
        error_set(err, ERROR_INVALID_ARGUMENTS, "must be an absolute path");
        return NULL;
    }
    real = strlen(path) < PATH_MAX ? real_path_resolve(path) : NULL;
    if (!real)
        error_set(err, ERROR_INVALID_ARGUMENTS, "leads nowhere");
    return real;
}

bool real_path_holds(const char *path, const char *inner)
{
    const size_t length = strlen(path);

    if (strncmp(inner, path, length) != 0)
        return false;
    return length == 1 || inner[length] == '/' || inner[length] == '\0';
}

bool real_path_is_in(const char *path, const char *directory)
{
    AUTO_FREE char *real = realpath(directory, NULL);

    return real && real_path_holds(real, path);
}

bool real_path_is_same(const char *path)
{
    AUTO_FREE char *real = real_path_resolve(path);

    return real && strcmp(real, path) == 0;
}
