/* The root of a worker: its zygote's, with new mounts for the parts that have to be its own, and
 * with the paths from the reserve. Nobody can remove a cover, because the kernel has locked it. */
#include "environments/process/runner/root_renewal.h"

#include "environments/process/runner/kernel.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/proc.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/reserve.h"
#include "environments/process/runner/root.h"
#include "environments/process/runner/root_limits.h"
#include "environments/process/runner/root_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RENEWAL_MOVED = 64 };

/* Mounts that are yet to be put at their places, or to be put there again. */
struct renewal {
    const char *paths[RENEWAL_MOVED];
    int mounts[RENEWAL_MOVED];
    size_t count;
};

static bool renewal_covers(const char *path)
{
    path = root_find_way(path);
    return strncmp(path, "/tmp/", 5) == 0 || strncmp(path, "/dev/shm/", 9) == 0;
}

static void renewal_add(struct renewal *renewal, const char *path, int tree)
{
    runner_need(NEED_ALWAYS, tree, "cannot take a path of the sandbox");
    if (renewal->count == RENEWAL_MOVED)
        runner_refuse(NEED_ALWAYS, "too many paths to write in, or in /tmp");
    renewal->paths[renewal->count] = path;
    renewal->mounts[renewal->count++] = tree;
}

/* Takes the paths in the order of the zygote's, which have the numbers of the reserve. */
static void renewal_take(struct renewal *renewal, char **paths)
{
    const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;

    root_sort(paths);
    for (size_t i = 0; paths[i]; i++) {
        const char *path = paths[i] + 1;

        if (reserve_holds(paths, path))
            renewal_add(renewal, path, reserve_take(i));
        else if (renewal_covers(path))
            renewal_add(renewal, path, open_tree(AT_FDCWD, path, flags));
    }
}

static void renewal_put_back(const struct renewal *renewal, char *const *paths)
{
    for (size_t i = 0; i < renewal->count; i++) {
        const char *path = renewal->paths[i];
        const int ret = reserve_surrounds(paths, path) ? root_attach(renewal->mounts[i], path)
                                                       : root_put(renewal->mounts[i], path);

        runner_need(NEED_ALWAYS, ret, "cannot show a path of the sandbox");
        close(renewal->mounts[i]);
    }
}

static void renewal_mount(const char *type, const char *place, unsigned long flags,
                          const char *options)
{
    runner_need(NEED_ALWAYS, mount(type, place, type, MS_NOSUID | flags, options), place);
}

/* Further user namespaces are forbidden in /proc before it becomes read-only. In the zygote's /proc
 * the kernel would search the entries of all workers under the same name. */
static void renewal_mount_proc(void)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

    renewal_mount("proc", "/proc", MS_NODEV | MS_NOEXEC, NULL);
    (void)kernel_write("/proc/sys/user/max_user_namespaces", "0");
    runner_need(NEED_ALWAYS, mount_setattr(AT_FDCWD, "/proc", 0, &read_only, sizeof read_only),
                "/proc");
}

void root_renew(const struct program *program, unsigned layers)
{
    struct renewal renewal = {.count = 0};
    mode_t before = umask(0);
    char options[96];

    renewal_take(&renewal, program->paths);
    snprintf(options, sizeof options, "mode=1777,size=%llu,nr_inodes=65536",
             (unsigned long long)program->run.shared_bytes);
    renewal_mount_proc();
    if (proc_is_written(layers, program))
        runner_need(NEED_ALWAYS, proc_open_processes(), "files of processes");
    runner_need(NEED_ALWAYS, root_limits_lay_over(), "/proc/meminfo");
    renewal_mount("tmpfs", "/tmp", MS_NODEV, options);
    snprintf(options, sizeof options, "mode=1777,size=%llu,nr_inodes=16384",
             (unsigned long long)program->run.shared_bytes);
    renewal_mount("tmpfs", "/dev/shm", MS_NODEV | MS_NOEXEC, options);
    renewal_mount("devpts", "/dev/pts", MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
    renewal_put_back(&renewal, program->paths);
    umask(before);
}
