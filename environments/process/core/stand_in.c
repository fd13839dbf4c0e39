#include "environments/process/core/stand_in.h"

#include "environments/process/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    pid_t pid; /* of the latest */
    int fd;    /* the zygote's end of a socket; -1: there is no stand-in */
} stand_in = {.fd = -1};

/* Its parent is the zygote's, which is then the parent of its workers, too. */
static pid_t stand_in_clone(void)
{
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* A zygote that has ended has said nothing before. */
static bool stand_in_is_heir(void)
{
    char byte;
    ssize_t length = recv(ZYGOTE_STAND_IN_FD, &byte, 1, MSG_DONTWAIT);

    return length == 0 || (length < 0 && errno == ECONNRESET);
}

/* Returns when the zygote has ended. If the zygote is back, the stand-in ends. */
static void stand_in_live(const int ends[2], void (*serve)(const void *data), const void *data)
{
    close(ends[0]);
    if (dup3(ends[1], ZYGOTE_STAND_IN_FD, O_CLOEXEC) < 0 || close(ends[1]) < 0)
        _exit(1);
    serve(data);
    if (!stand_in_is_heir())
        _exit(0);
    close(ZYGOTE_STAND_IN_FD);
}

enum stand_in_result stand_in_begin(void (*serve)(const void *data), const void *data)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return STAND_IN_NONE;
    stand_in.pid = stand_in_clone();
    if (stand_in.pid == 0) {
        stand_in_live(ends, serve, data);
        return STAND_IN_SUCCEEDS;
    }
    close(ends[1]);
    if (stand_in.pid < 0)
        close(ends[0]);
    stand_in.fd = stand_in.pid < 0 ? -1 : ends[0];
    return stand_in.pid < 0 ? STAND_IN_NONE : STAND_IN_SERVES;
}

/* The other end is closed when the stand-in has ended: supervisors close theirs. */
void stand_in_end(void)
{
    char byte = 0;

    (void)send(stand_in.fd, &byte, 1, MSG_NOSIGNAL);
    while (read(stand_in.fd, &byte, 1) < 0 && errno == EINTR)
        ;
    close(stand_in.fd);
    stand_in.fd = -1;
}

pid_t stand_in_pid(void)
{
    return stand_in.pid;
}

bool stand_in_wait(int orders)
{
    struct pollfd fds[] = {{.fd = ZYGOTE_STAND_IN_FD, .events = POLLIN},
                           {.fd = orders, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return false;
    return fds[0].revents == 0;
}
