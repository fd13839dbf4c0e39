#include "base/fd.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

int fd_set_nonblocking(int fd, struct error *err)
{
    int is_nonblocking = 1;

    if (ioctl(fd, FIONBIO, &is_nonblocking) < 0)
        return error_set_errno(err, errno, "ioctl");
    return 0;
}

static bool fd_wait_for_room(int fd, int milliseconds)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};

    return poll(&room, 1, milliseconds) > 0;
}

bool fd_has_room(int fd)
{
    return fd_wait_for_room(fd, 0);
}

int fd_write_all(int fd, const char *data, size_t length, struct error *err)
{
    while (length > 0) {
        ssize_t written = write(fd, data, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) { /* another program made it non-blocking */
            (void)fd_wait_for_room(fd, -1);
            continue;
        }
        if (written < 0)
            return error_set_errno(err, errno, "write");
        data += written;
        length -= (size_t)written;
    }
    return 0;
}

char *fd_read_all(int fd, size_t limit, size_t *ret_length, struct error *err)
{
    AUTO_FREE char *data = NULL;
    size_t capacity = 0;
    size_t length = 0;

    for (;;) {
        ssize_t count;

        if (length + 1 >= capacity) {
            capacity = capacity ? capacity * 2 : 4096;
            data = memory_resize(data, capacity);
        }
        count = read(fd, data + length, capacity - length - 1);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            error_set_errno(err, errno, "cannot be read");
            return NULL;
        }
        if (count == 0)
            break;
        length += (size_t)count;
        if (length > limit) {
            error_set(err, ERROR_LIMIT, "is larger than %zu bytes", limit);
            return NULL;
        }
    }
    data[length] = '\0';
    *ret_length = length;
    return STEAL_PTR(data);
}

char *fd_read_file(const char *path, size_t limit, size_t *ret_length, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char *data;

    if (fd < 0) {
        error_set_errno(err, errno, "cannot open %s", path);
        return NULL;
    }
    data = fd_read_all(fd, limit, ret_length, err);
    if (!data)
        error_prefix(err, "%s", path);
    return data;
}

int fd_write_new_file(const char *path, mode_t mode, const char *data, size_t length,
                      struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

    if (fd < 0)
        return error_set_errno(err, errno, "cannot make the file %s", path);
    if (fd_write_all(fd, data, length, err) == 0)
        return 0;
    (void)unlink(path);
    return error_prefix(err, "%s", path);
}

int fd_replace_file(const char *path, mode_t mode, const char *data, size_t length,
                    struct error *err)
{
    AUTO_FREE char *next = memory_format("%s.next", path);

    (void)unlink(next); /* of a process that was killed */
    if (fd_write_new_file(next, mode, data, length, err) < 0)
        return -1;
    if (rename(next, path) == 0)
        return 0;
    error_set_errno(err, errno, "cannot write %s", path);
    (void)unlink(next);
    return -1;
}

static int fd_make_directory(const char *path, mode_t mode, struct error *err)
{
    struct stat status;

    if (mkdir(path, mode) == 0)
        return 0;
    if (errno == EEXIST && stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        errno = ENOTDIR;
    if (errno == EEXIST)
        return 0;
    return error_set_errno(err, errno, "cannot make the directory %s", path);
}

int fd_make_directories(const char *path, mode_t mode, struct error *err)
{
    AUTO_FREE char *partial = memory_copy_string(path);

    for (char *slash = strchr(partial + (*partial == '/'), '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (fd_make_directory(partial, mode, err) < 0)
            return -1;
        if (!slash)
            return 0;
        *slash = '/';
    }
}
