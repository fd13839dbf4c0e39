#include "server/transport/standard_io.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_FD = 10, /* out of the way of 0, 1 and 2 */
    PATH_BYTES = 32,
};

/* True where reading and writing do not wait, or can be told not to each time. */
static bool is_ready_made(int fd)
{
    struct stat status;

    return fstat(fd, &status) < 0 || S_ISSOCK(status.st_mode) || S_ISREG(status.st_mode);
}

/* The file behind FD as an open file of our own, non-blocking; or -1. */
static int open_again(int fd, int access)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

static int standard_io_duplicate(int fd, struct error *err)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);

    return high < 0 ? error_set_errno(err, errno, "dup") : high;
}

static int change_flags(struct standard_io_shared *shared, int fd, struct error *err)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0)
        return error_set_errno(err, errno, "fcntl");
    if (flags & O_NONBLOCK)
        return 0;
    shared->fd = standard_io_duplicate(fd, err);
    shared->flags = flags;
    if (shared->fd < 0)
        return -1;
    return fd_set_nonblocking(fd, err);
}

static int check_access(int fd, int access, struct error *err)
{
    int mode = fcntl(fd, F_GETFL) & O_ACCMODE;

    if (mode != O_RDWR && mode != access)
        return error_set(err, ERROR_USAGE, "it cannot be %s",
                         access == O_RDONLY ? "read" : "written");
    return 0;
}

/* A descriptor for the file of FD that never makes us wait; it must allow ACCESS. */
static int standard_io_take(struct standard_io_shared *shared, int fd, int access,
                            struct error *err)
{
    AUTO_CLOSE int high = standard_io_duplicate(fd, err);
    AUTO_CLOSE int again = -1;

    if (high < 0 || check_access(high, access, err) < 0)
        return -1;
    if (is_ready_made(high))
        return STEAL_FD(high);
    again = open_again(high, access);
    if (again >= 0)
        return standard_io_duplicate(again, err);
    if (change_flags(shared, high, err) < 0)
        return -1;
    return STEAL_FD(high);
}

/* From now on a stray printf goes to stderr, and a stray read finds nothing. */
static int take_away(struct error *err)
{
    AUTO_CLOSE int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (nothing < 0)
        return error_set_errno(err, errno, "cannot open /dev/null");
    if (dup2(nothing, STDIN_FILENO) < 0)
        return error_set_errno(err, errno, "dup");
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && dup2(nothing, STDOUT_FILENO) < 0)
        return error_set_errno(err, errno, "dup");
    return 0;
}

static int take_both(struct standard_io *io, int *in, int *out, struct error *err)
{
    *in = standard_io_take(&io->shared[0], STDIN_FILENO, O_RDONLY, err);
    if (*in < 0)
        return error_prefix(err, "standard input");
    *out = standard_io_take(&io->shared[1], STDOUT_FILENO, O_WRONLY, err);
    if (*out < 0)
        return error_prefix(err, "standard output");
    return 0;
}

int standard_io_open(struct standard_io *io, int *ret_in, int *ret_out, struct error *err)
{
    AUTO_CLOSE int in = -1;
    AUTO_CLOSE int out = -1;

    *io = (struct standard_io)STANDARD_IO_INIT;
    if (take_both(io, &in, &out, err) < 0 || take_away(err) < 0) {
        standard_io_close(io);
        return -1;
    }
    *ret_in = STEAL_FD(in);
    *ret_out = STEAL_FD(out);
    return 0;
}

void standard_io_close(struct standard_io *io)
{
    for (int i = 0; i < STANDARD_IO_SHARED; i++) {
        struct standard_io_shared *shared = &io->shared[i];

        if (shared->fd < 0)
            continue;
        (void)fcntl(shared->fd, F_SETFL, shared->flags);
        close(shared->fd);
        shared->fd = -1;
    }
}
