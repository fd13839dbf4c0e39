#include "environments/interpreter/search_path.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/interpreter/script_places.h"

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

static bool is_same_directory(const char *left, const char *right)
{
    struct stat left_status;
    struct stat right_status;

    return stat(left, &left_status) == 0 && stat(right, &right_status) == 0 &&
           left_status.st_dev == right_status.st_dev && left_status.st_ino == right_status.st_ino;
}

char *search_path_own_directory(const char *program, const char *active)
{
    AUTO_FREE char *directory = memory_copy_string(program);
    char *slash = strrchr(directory, '/');
    AUTO_FREE char *root = NULL;
    AUTO_FREE char *mark = NULL;

    if (!slash)
        return NULL;
    *slash = '\0';
    root = memory_format("%s/..", directory);
    mark = memory_format("%s/pyvenv.cfg", root);
    if (access(mark, F_OK) < 0 || (active && is_same_directory(active, root)))
        return NULL;
    return STEAL_PTR(directory);
}

char *search_path_find_with_last(const char *name, size_t position, const char *last)
{
    const char *rest = search_path();
    AUTO_FREE char *at_end = last ? memory_format("%s/%s", last, name) : NULL;

    while (*rest) {
        size_t length = strcspn(rest, ":");
        AUTO_FREE char *directory = memory_format("%.*s", (int)length, rest);
        AUTO_FREE char *path = memory_format("%s/%s", directory, name);

        if (directory[0] == '/' && search_path_is_program(path) &&
            !(last && is_same_directory(directory, last)) && position-- == 0)
            return STEAL_PTR(path);
        rest += length + (rest[length] == ':');
    }
    return at_end && search_path_is_program(at_end) && position == 0 ? STEAL_PTR(at_end) : NULL;
}

char *search_path_find(const char *name, size_t position)
{
    AUTO_FREE char *program = realpath("/proc/self/exe", NULL);
    AUTO_FREE char *last =
        program ? search_path_own_directory(program, getenv("VIRTUAL_ENV")) : NULL;

    return search_path_find_with_last(name, position, last);
}

bool search_path_lies_in(const char *path, const char *directory)
{
    AUTO_FREE char *inner = realpath(path, NULL);
    AUTO_FREE char *outer = realpath(directory, NULL);
    const size_t length = outer ? strlen(outer) : 0;

    return inner && outer && strncmp(inner, outer, length) == 0 &&
           (inner[length] == '/' || inner[length] == '\0');
}

char *search_path_find_outside(const char *name, const char *directory,
                               const struct script_places *places)
{
    char *found;

    for (size_t i = 0; (found = search_path_find(name, i)); i++) {
        if (!search_path_lies_in(found, directory) && !script_places_reach(places, found))
            return found;
        free(found);
    }
    return NULL;
}

char *search_path_without(const char *directory, const struct script_places *places)
{
    char *kept = memory_copy_string("");
    const char *rest = search_path();

    while (*rest) {
        const size_t length = strcspn(rest, ":");
        AUTO_FREE char *part = memory_format("%.*s", (int)length, rest);

        if (*part == '/' && !(directory && search_path_lies_in(part, directory)) &&
            !script_places_reach(places, part)) {
            AUTO_FREE char *before = kept;

            kept = memory_format("%s%s%s", before, *before ? ":" : "", part);
        }
        rest += length + (rest[length] == ':');
    }
    return kept;
}
