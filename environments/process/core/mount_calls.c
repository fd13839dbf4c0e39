/* Calls for mounts that the C library has from 2.36 on. A Python may load this library beside an
 * older one, so it brings its own. */
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_tree(int directory, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, directory, path, flags);
}

int move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags)
{
    return (int)syscall(SYS_move_mount, from, from_path, to, to_path, flags);
}

int mount_setattr(int directory, const char *path, unsigned flags, struct mount_attr *attributes,
                  size_t size)
{
    return (int)syscall(SYS_mount_setattr, directory, path, flags, attributes, size);
}

int fsopen(const char *type, unsigned flags)
{
    return (int)syscall(SYS_fsopen, type, flags);
}

int fsconfig(int context, unsigned command, const char *key, const void *value, int number)
{
    return (int)syscall(SYS_fsconfig, context, command, key, value, number);
}

int fsmount(int context, unsigned flags, unsigned attributes)
{
    return (int)syscall(SYS_fsmount, context, flags, attributes);
}
