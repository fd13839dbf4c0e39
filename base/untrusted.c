#include "base/untrusted.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ALWAYS = O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC,
    OWNER_ONLY = S_IRUSR | S_IWUSR,
};

/* The parts of a path one by one, for kernels and seccomp profiles without openat2(2). */

/* The directory that the first LENGTH bytes of PATH name in DIRECTORY. */
static int untrusted_enter(int directory, const char *path, size_t length)
{
    AUTO_FREE char *name = memory_format("%.*s", (int)length, path);

    if (strcmp(name, "..") == 0) {
        errno = EXDEV;
        return -1;
    }
    return openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int untrusted_open_by_parts(int directory, const char *path, int flags)
{
    AUTO_CLOSE int parent = *path == '/' ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
                                         : fcntl(directory, F_DUPFD_CLOEXEC, 0);
    const char *slash;

    for (path += strspn(path, "/"); (slash = strchr(path, '/'));
         path = slash + strspn(slash, "/")) {
        int next = untrusted_enter(parent, path, (size_t)(slash - path));

        if (next < 0)
            return -1;
        close(parent);
        parent = next;
    }
    if (strcmp(path, "..") == 0) {
        errno = EXDEV;
        return -1;
    }
    return openat(parent, path, flags, OWNER_ONLY);
}

static int untrusted_open_any(int directory, const char *path, int flags)
{
    const struct open_how how = {
        .flags = (unsigned)(flags | ALWAYS),
        .mode = flags & O_CREAT ? OWNER_ONLY : 0,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                   (directory == AT_FDCWD ? 0 : RESOLVE_BENEATH),
    };
    int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);

    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return untrusted_open_by_parts(directory, path, flags | ALWAYS);
    return fd;
}

static int untrusted_fail(const char *path, struct error *err)
{
    switch (errno) {
    case ELOOP:
        return error_set_errno(err, ELOOP, "cannot open %s, which is a link or behind one", path);
    case EWOULDBLOCK:
        return error_set_errno(err, EWOULDBLOCK, "cannot open %s, which a program holds a lease on",
                               path);
    case ENXIO:
        return error_set(err, ERROR_SYSTEM, "%s is not a regular file", path);
    default:
        return error_set_errno(err, errno, "cannot open %s", path);
    }
}

int untrusted_open(int directory, const char *path, int flags, struct error *err)
{
    AUTO_CLOSE int fd = untrusted_open_any(directory, path, flags);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0)
        return untrusted_fail(path, err);
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_SYSTEM, "%s is not a regular file", path);
    return STEAL_FD(fd);
}

int untrusted_open_directory(int directory, const char *path, struct error *err)
{
    int fd = untrusted_open_any(directory, path, O_RDONLY | O_DIRECTORY);

    return fd < 0 ? untrusted_fail(path, err) : fd;
}

char *untrusted_read(int directory, const char *path, size_t limit, size_t *ret_length,
                     struct error *err)
{
    AUTO_CLOSE int fd = untrusted_open(directory, path, O_RDONLY, err);
    char *data = fd < 0 ? NULL : fd_read_all(fd, limit, ret_length, err);

    if (fd >= 0 && !data)
        error_prefix(err, "%s", path);
    return data;
}

json_t *untrusted_load_json(int directory, const char *path, size_t limit)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text = untrusted_read(directory, path, limit, &length, &ignored);

    return text ? json_loadb(text, length, 0, NULL) : NULL;
}
