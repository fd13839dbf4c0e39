#include "environments/process/runner/proc.h"

#include "environments/process/policy.h"
#include "environments/process/runner/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROC "/proc"

enum { PROC_PATH_BYTES = 512, PROC_WRITABLE = 0222 };

/* Asks for a file of the kernel, since the uid 0 of a user namespace is another user for it. */
bool proc_is_owned(void)
{
    return access(PROC "/sys/kernel/core_pattern", W_OK) == 0 || errno != EACCES;
}

bool proc_is_written(unsigned layers, const struct program *program)
{
    return layers & LAYER_ROOT && program_has_devices(program) &&
           (layers & LAYER_UID || !proc_is_owned());
}

/* Lays a read-only view of PATH over it. */
static int proc_keep(const char *path)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    int view = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
    int ret;

    if (view < 0)
        return -1;
    ret = mount_setattr(view, "", AT_EMPTY_PATH, &read_only, sizeof read_only) < 0
              ? -1
              : move_mount(view, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH);
    close(view);
    return ret;
}

/* Files of processes have numbers for names, and links lead to them. The first process is the
 * supervisor: the program may be what the kernel calls its owner. */
static bool proc_is_kept(const char *name, const struct stat *status)
{
    if (strcmp(name, "1") == 0)
        return true;
    return name[0] != '.' && (name[0] < '0' || name[0] > '9') &&
           (S_ISDIR(status->st_mode) ||
            (S_ISREG(status->st_mode) && status->st_mode & PROC_WRITABLE));
}

static int proc_keep_entry(int proc, const char *name)
{
    char path[PROC_PATH_BYTES];
    struct stat status;

    if (fstatat(proc, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !proc_is_kept(name, &status))
        return 0;
    snprintf(path, sizeof path, PROC "/%s", name);
    return proc_keep(path);
}

static int proc_keep_kernel(void)
{
    DIR *proc = opendir(PROC);
    struct dirent *entry;
    int ret = 0;

    if (!proc)
        return -1;
    while (ret == 0 && (entry = readdir(proc)))
        ret = proc_keep_entry(dirfd(proc), entry->d_name);
    closedir(proc);
    return ret;
}

int proc_open_processes(void)
{
    struct mount_attr writable = {.attr_clr = MOUNT_ATTR_RDONLY};

    return proc_keep_kernel() < 0 ? -1
                                  : mount_setattr(AT_FDCWD, PROC, 0, &writable, sizeof writable);
}
