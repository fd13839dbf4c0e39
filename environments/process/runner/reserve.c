/* The reserve of a zygote: the mounts of the places that scripts can write in, its working
 * directory above all. What lies there scripts may have left, and a zygote has fewer bonds than
 * they: it must not come upon any of it, whatever leads it there. So in its root these places are
 * empty, and the mounts wait below a cover, where no path leads. The supervisor of a worker, which
 * begins in the reserve, puts copies of them to their places in the namespace of its worker.
 *
 * The kernel copies only mounts that have a place, before Linux 6.15: else none would be needed. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESERVE "/run" /* no policy names what is in it */

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

static int reserve_mount(const char *options, unsigned long flags)
{
    return mount("reserve", RESERVE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | flags, options);
}

int reserve_open(void)
{
    return reserve_mount("mode=0755,size=64k,nr_inodes=4096", 0);
}

int reserve_keep(size_t number, bool is_directory, int tree)
{
    char place[RESERVE_NUMBER_BYTES];

    snprintf(place, sizeof place, RESERVE "/%zu", number);
    return root_make_place(place, is_directory) < 0
               ? -1
               : move_mount(tree, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH);
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

/* A mount of PLACE that nobody writes through is at PATH. */
static int reserve_show(const char *place, const char *path)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    int tree = open_tree(AT_FDCWD, place, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    int ret;

    if (tree < 0)
        return -1;
    ret = mount_setattr(tree, "", AT_EMPTY_PATH, &read_only, sizeof read_only) < 0
              ? -1
              : root_put(tree, path);
    close(tree);
    return ret;
}

/* Of PATHS, in their order, the first that can be written and holds PATH. */
static size_t reserve_find(char *const *paths, const char *path)
{
    size_t number = 0;

    while (paths[number][0] != CONTROL_WRITE || !reserve_is_in(path, paths[number] + 1))
        number++;
    return number;
}

int reserve_stand_in(size_t number, bool is_directory, const struct program *program)
{
    const char *path = program->paths[number] + 1;
    const size_t outer = reserve_find(program->paths, path);
    AUTO_FREE char *place =
        memory_format(RESERVE "/empty%zu%s", outer, path + strlen(program->paths[outer] + 1));

    if (root_make_way(place) < 0 || root_make_place(place, is_directory) < 0 ||
        (is_directory && reserve_make_script(place, path, program->script) < 0))
        return -1;
    return outer == number ? reserve_show(place, path) : 0;
}

int reserve_close(void)
{
    return chdir(RESERVE) < 0 ? -1 : reserve_mount("mode=0755,size=4k", MS_RDONLY);
}

int reserve_take(size_t number)
{
    char place[RESERVE_NUMBER_BYTES];

    snprintf(place, sizeof place, "%zu", number);
    return open_tree(AT_FDCWD, place, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}
