/* Some filters take openat2(2) away, which cannot be filtered by its flags: that of a systemd unit
 * with DynamicUser= does. Then the parts of a path are opened one by one. */
#include "environments/process/runner/plain_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int plain_path_fail(int place, int number)
{
    close(place);
    errno = number;
    return -1;
}

/* Opens NAME in PARENT (taken). FLAGS: O_DIRECTORY, or 0. */
static int plain_path_enter(int parent, const char *name, int flags)
{
    int next;

    if (strcmp(name, "..") == 0)
        return plain_path_fail(parent, EXDEV);
    next = openat(parent, name, O_PATH | O_CLOEXEC | O_NOFOLLOW | flags);
    if (next < 0)
        return plain_path_fail(parent, errno);
    close(parent);
    return next;
}

/* PLACE (taken), unless it is a link. */
static int plain_path_refuse_link(int place)
{
    struct stat status;

    if (place < 0)
        return -1;
    if (fstat(place, &status) < 0)
        return plain_path_fail(place, errno);
    return S_ISLNK(status.st_mode) ? plain_path_fail(place, ELOOP) : place;
}

static int plain_path_open_by_parts(int root, const char *path, int flags)
{
    int place = root == AT_FDCWD ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
                                 : fcntl(root, F_DUPFD_CLOEXEC, 0);

    for (path += strspn(path, "/"); place >= 0 && *path; path += strspn(path, "/")) {
        char name[NAME_MAX + 1];
        size_t length = strcspn(path, "/");

        if (length > NAME_MAX)
            return plain_path_fail(place, ENAMETOOLONG);
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        path += length;
        place = plain_path_enter(place, name, *path ? O_DIRECTORY : 0);
    }
    return flags & O_NOFOLLOW ? place : plain_path_refuse_link(place);
}

int plain_path_open(int root, const char *path, int flags)
{
    const struct open_how how = {
        .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
        .resolve = RESOLVE_NO_SYMLINKS | (root == AT_FDCWD ? 0 : RESOLVE_IN_ROOT),
    };
    const int place = (int)syscall(SYS_openat2, root, path, &how, sizeof how);

    return place >= 0 || (errno != ENOSYS && errno != EPERM)
               ? place
               : plain_path_open_by_parts(root, path, flags);
}
