#include "environments/interpreter/needed_paths.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* In every sandbox, read-only. */
static const char *const shown[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/* No Python is kept there. */
static const char *const closed[] = {"/boot", "/etc", "/proc", "/run", "/sys"};

/* Directories with files of many owners, like every directory directly in the root. */
static const char *const wide[] = {"/dev/shm", "/var/cache", "/var/lib", "/var/opt", "/var/tmp"};

/* Directories with files of many programs in each home. Programs install themselves into .local as
 * if it was /usr. */
static const char *const wide_in_homes[] = {".cache", ".config", ".local", ".local/share",
                                            ".local/state"};

/* True when PATH is DIRECTORY or in it. */
static bool needed_path_is_in(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool needed_path_is_in_one(const char *path, const char *const *directories, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (needed_path_is_in(path, directories[i]))
            return true;
    return false;
}

/* True for "/", "/opt", and "/home/alice": homes that are in no list are there. */
static bool is_near_the_root(const char *path)
{
    const char *name = strrchr(path, '/');

    return name == path || (name == path + strlen("/home") && needed_path_is_in(path, "/home"));
}

static bool is_wide_in_home(const char *path, const char *home)
{
    const char *name;

    if (!needed_path_is_in(path, home) || strcmp(path, home) == 0)
        return false;
    name = path + strlen(home) + 1;
    for (size_t i = 0; i < ARRAY_SIZE(wide_in_homes); i++)
        if (strcmp(name, wide_in_homes[i]) == 0)
            return true;
    return false;
}

/* True when PATH is a home, holds a home, or is a directory of a home for many programs. */
static bool is_about_a_home(const char *path, const char *const *homes)
{
    for (size_t i = 0; homes[i]; i++)
        if (needed_path_is_in(homes[i], path) || is_wide_in_home(path, homes[i]))
            return true;
    return false;
}

/* The state directory has files of every caller; only its venvs may hold a Python. */
static bool is_about_the_state(const char *path, const char *state)
{
    AUTO_FREE char *venvs = memory_format("%s/venvs/", state);

    if (needed_path_is_in(state, path))
        return true;
    return needed_path_is_in(path, state) && strncmp(path, venvs, strlen(venvs)) != 0;
}

static bool is_wide(const char *path, const struct needed_paths_setting *setting)
{
    for (size_t i = 0; i < ARRAY_SIZE(wide); i++)
        if (strcmp(path, wide[i]) == 0)
            return true;
    return is_near_the_root(path) || is_about_a_home(path, setting->homes) ||
           (setting->state && is_about_the_state(path, setting->state));
}

static bool needed_path_may_be_shown(const struct needed_path *needed,
                                     const struct needed_paths_setting *setting)
{
    return !needed_path_is_in_one(needed->path, shown, ARRAY_SIZE(shown)) &&
           !needed_path_is_in_one(needed->path, closed, ARRAY_SIZE(closed)) &&
           !(needed->is_directory && is_wide(needed->path, setting));
}

static int needed_path_compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* True when another directory among PATHS shows the path at POSITION, too. The first of equal paths
 * stays. */
static bool is_shown_by_another(const struct needed_path *paths, size_t count, size_t position,
                                const struct needed_paths_setting *setting)
{
    for (size_t i = 0; i < count; i++) {
        const bool is_same = strcmp(paths[i].path, paths[position].path) == 0;

        if (is_same
                ? i < position
                : paths[i].is_directory && needed_path_is_in(paths[position].path, paths[i].path) &&
                      needed_path_may_be_shown(&paths[i], setting))
            return true;
    }
    return false;
}

char **needed_paths_reduce(const struct needed_path *paths, size_t count,
                           const struct needed_paths_setting *setting)
{
    char **needs = memory_new(count + 1, sizeof *needs);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (needed_path_may_be_shown(&paths[i], setting) &&
            !is_shown_by_another(paths, count, i, setting))
            needs[kept++] = memory_copy_string(paths[i].path);
    qsort(needs, kept, sizeof *needs, needed_path_compare);
    return needs;
}
