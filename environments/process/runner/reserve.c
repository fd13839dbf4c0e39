/* The reserve of a zygote: the mounts of the places that scripts can write in, its working
 * directory above all. Scripts may have left files there, and a zygote is less confined than they
 * are: no path may lead it to these files. So in its root these places are empty, and the mounts
 * wait below a cover, which no path passes. The supervisor of a worker, which begins in the
 * reserve, puts copies of them to their places in the namespace of its worker.
 *
 * The mounts need a place, because before Linux 6.15 the kernel does not copy a mount without one.
 */
#include "environments/process/runner/reserve.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/root_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESERVE_NUMBER_BYTES = 32 };

static bool reserve_is_in(const char *path, const char *place)
{
    const size_t length = strlen(place);

    return strncmp(path, place, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool reserve_holds(char *const *paths, const char *path)
{
    for (; *paths; paths++)
        if (**paths == CONTROL_WRITE && reserve_is_in(path, *paths + 1))
            return true;
    return false;
}

bool reserve_surrounds(char *const *paths, const char *path)
{
    for (; *paths; paths++)
        if (**paths == CONTROL_WRITE && reserve_is_in(path, *paths + 1) &&
            strcmp(path, *paths + 1) != 0)
            return true;
    return false;
}

int reserve_open(const char *place)
{
    return mount("reserve", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 "mode=0755,size=64k,nr_inodes=4096") < 0
               ? -1
               : chdir(place);
}

/* The script of a zygote is laid over a file. */
static int reserve_make_script(const char *stand_in, const char *path, const char *script)
{
    const size_t length = strlen(path);
    AUTO_FREE char *file = NULL;

    if (!reserve_is_in(script, path) || strchr(script + length + 1, '/'))
        return 0;
    file = memory_format("%s/%s", stand_in, script + length + 1);
    return root_make_place(file, false);
}

/* The index of the first of PATHS that can be written and holds PATH. */
static size_t reserve_find(char *const *paths, const char *path)
{
    size_t number = 0;

    while (paths[number][0] != CONTROL_WRITE || !reserve_is_in(path, paths[number] + 1))
        number++;
    return number;
}

/* Makes the empty stand-in for the path NUMBER of PROGRAM, inside the stand-in of the outermost
 * path. */
static int reserve_make_stand_in(size_t number, bool is_directory, const struct program *program)
{
    const char *path = program->paths[number] + 1;
    const size_t outer = reserve_find(program->paths, path);
    AUTO_FREE char *place =
        memory_format("./empty%zu%s", outer, path + strlen(program->paths[outer] + 1));

    if (root_make_way(place) < 0 || root_make_place(place, is_directory) < 0)
        return -1;
    return is_directory ? reserve_make_script(place, path, program->script) : 0;
}

int reserve_keep(size_t number, int tree, const struct program *program)
{
    char place[RESERVE_NUMBER_BYTES];
    struct stat status;

    snprintf(place, sizeof place, "%zu", number);
    if (fstat(tree, &status) < 0 || root_make_place(place, S_ISDIR(status.st_mode)) < 0 ||
        move_mount(tree, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return -1;
    if (program->paths[number][0] != CONTROL_WRITE)
        return 0; /* a writable path holds it */
    return reserve_make_stand_in(number, S_ISDIR(status.st_mode), program);
}

int reserve_stand_in(size_t number, const struct program *program)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    const char *path = program->paths[number] + 1;
    char place[RESERVE_NUMBER_BYTES];
    int tree;
    int ret;

    if (reserve_find(program->paths, path) != number)
        return 0;
    snprintf(place, sizeof place, "./empty%zu", number);
    tree = open_tree(AT_FDCWD, place, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0)
        return -1;
    ret = mount_setattr(tree, "", AT_EMPTY_PATH, &read_only, sizeof read_only) < 0
              ? -1
              : root_put(tree, path);
    close(tree);
    return ret;
}

int reserve_take(size_t number)
{
    char place[RESERVE_NUMBER_BYTES];

    snprintf(place, sizeof place, "%zu", number);
    return open_tree(AT_FDCWD, place, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}
