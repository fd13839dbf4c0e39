#include "server/transport/socket/socket.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BACKLOG = 128,
    SOCKET_UMASK = 0177,
    DIRECTORY_MODE = 0700,
    LOCK_TRIES = 100,
    LOCK_TRY_MILLISECONDS = 10,
};

/* The directory */

static char *directory_of(const char *path)
{
    char *directory = memory_copy_string(path);
    char *slash = strrchr(directory, '/');

    slash[slash == directory ? 1 : 0] = '\0';
    return directory;
}

/* A user who may rename files in the directory could put another socket in the place of ours. */
static int socket_check_directory(int fd, const char *path, struct error *err)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        return error_set_errno(err, errno, "cannot look at the directory %s", path);
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return error_set(err, ERROR_CONFIG,
                         "the directory %s belongs to user %u, who could replace the socket", path,
                         status.st_uid);
    if (status.st_mode & (S_IWGRP | S_IWOTH) && !(status.st_mode & S_ISVTX))
        return error_set(err, ERROR_CONFIG,
                         "the directory %s can be written by others (mode %04o), who could replace "
                         "the socket; chmod go-w, or name a directory that does not exist yet",
                         path, status.st_mode & 07777);
    return 0;
}

/* The lock keeps servers that start at the same moment from taking each other's fresh socket, which
 * does not listen yet, for a socket that is left over. */
static int lock_directory(int fd, const char *path, struct error *err)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_set_errno(err, errno, "cannot lock the directory %s", path);
        (void)poll(NULL, 0, LOCK_TRY_MILLISECONDS);
    }
    return error_set(err, ERROR_BUSY, "another program keeps the directory %s locked", path);
}

/* The locked directory, or -1. */
static int socket_open_directory(const char *path, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT) {
        if (fd_make_directories(path, DIRECTORY_MODE, err) < 0)
            return -1;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd < 0)
        return error_set_errno(err, errno, "cannot open the directory %s", path);
    if (socket_check_directory(fd, path, err) < 0 || lock_directory(fd, path, err) < 0)
        return -1;
    return STEAL_FD(fd);
}

/* Unix */

/* False when the process that began to listen has ended: a child that it was just starting can keep
 * the socket open for a moment. Processes that our PID namespace does not show have the number 0.
 */
static bool socket_has_listener(int fd)
{
    struct ucred listener;
    socklen_t length = sizeof listener;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &length) < 0 || listener.pid == 0)
        return true;
    return kill(listener.pid, 0) == 0 || errno != ESRCH;
}

static bool is_answered(const struct endpoint *endpoint)
{
    AUTO_CLOSE int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (probe < 0)
        return true;
    if (connect(probe, &endpoint->any, endpoint->length) < 0)
        return errno != ECONNREFUSED;
    return socket_has_listener(probe);
}

static int remove_stale(const struct endpoint *endpoint, struct error *err)
{
    const char *path = endpoint->local.sun_path;
    struct stat status;

    if (lstat(path, &status) < 0)
        return error_set_errno(err, errno, "cannot look at %s", path);
    if (!S_ISSOCK(status.st_mode))
        return error_set(err, ERROR_CONFIG, "%s exists and is not a socket", path);
    if (status.st_uid != geteuid())
        return error_set(err, ERROR_CONFIG, "%s belongs to user %u", path, status.st_uid);
    if (is_answered(endpoint))
        return error_set(err, ERROR_BUSY, "another server listens there");
    log_info("removing a socket that a dead server left behind path=%s", path);
    if (unlink(path) < 0)
        return error_set_errno(err, errno, "cannot remove %s", path);
    return 0;
}

static int bind_privately(int fd, const struct endpoint *endpoint)
{
    mode_t before = umask(SOCKET_UMASK);
    int ret = bind(fd, &endpoint->any, endpoint->length);
    int number = errno;

    umask(before);
    errno = number;
    return ret;
}

static int bind_unix(int fd, const struct endpoint *endpoint, struct error *err)
{
    int ret = bind_privately(fd, endpoint);

    if (ret < 0 && errno == EADDRINUSE) {
        if (remove_stale(endpoint, err) < 0)
            return -1;
        ret = bind_privately(fd, endpoint);
    }
    if (ret < 0)
        return error_set_errno(err, errno, "cannot bind");
    return 0;
}

static int remember_file(const struct endpoint *endpoint, struct socket_file *ret,
                         struct error *err)
{
    struct socket_file file = {0};
    struct stat status;

    memcpy(file.path, endpoint->local.sun_path, sizeof(file.path));
    if (lstat(file.path, &status) < 0)
        return error_set_errno(err, errno, "cannot look at %s", file.path);
    file.device = status.st_dev;
    file.inode = status.st_ino;
    *ret = file;
    return 0;
}

int socket_open_unix(const struct endpoint *endpoint, struct socket_file *ret, struct error *err)
{
    AUTO_FREE char *path = directory_of(endpoint->local.sun_path);
    AUTO_CLOSE int directory = socket_open_directory(path, err);
    AUTO_CLOSE int fd = -1;

    if (directory < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot make a socket");
    if (bind_unix(fd, endpoint, err) < 0 || remember_file(endpoint, ret, err) < 0)
        return -1;
    if (listen(fd, BACKLOG) < 0) {
        error_set_errno(err, errno, "cannot listen");
        socket_file_remove(ret);
        return -1;
    }
    return STEAL_FD(fd);
}

void socket_file_remove(struct socket_file *file)
{
    struct stat status;

    if (file->path[0] && lstat(file->path, &status) == 0 && status.st_dev == file->device &&
        status.st_ino == file->inode)
        (void)unlink(file->path);
    *file = (struct socket_file){0};
}

/* TCP */

static int bind_tcp(int fd, const struct endpoint *endpoint)
{
    static const int yes = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
        return -1;
    if (endpoint->any.sa_family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) < 0)
        return -1;
    if (bind(fd, &endpoint->any, endpoint->length) < 0)
        return -1;
    return listen(fd, BACKLOG);
}

int socket_open_tcp(const struct endpoint *endpoint, struct error *err)
{
    AUTO_CLOSE int fd =
        socket(endpoint->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return error_set_errno(err, errno, "cannot make a socket");
    if (bind_tcp(fd, endpoint) < 0)
        return error_set_errno(err, errno, "cannot bind");
    return STEAL_FD(fd);
}

int socket_get_endpoint(int fd, struct endpoint *ret, struct error *err)
{
    struct endpoint endpoint = {.length = sizeof(endpoint.local)};

    if (getsockname(fd, &endpoint.any, &endpoint.length) < 0)
        return error_set_errno(err, errno, "cannot tell the address of a socket");
    *ret = endpoint;
    return 0;
}
