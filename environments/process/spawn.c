#include "environments/process/spawn.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "environments/process/control.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STACK_BYTES = 32 * 1024,
    FIRST_FREE_FD = 16, /* above the descriptors that the child assigns */
};

/* Arguments of the child, which shares our memory until its exec. */
struct child {
    int executable;
    char path[32]; /* of the executable in /proc, made ahead: the child shares our memory */
    char *const *arguments;
    int descriptors[CONTROL_FD + 1]; /* they become 0 to 3 */
    int failure;                     /* errno of a child that could not become the runner */
};

static bool spawn_is_denied(int number)
{
    return number == ENOSYS || number == EPERM;
}

/* If a filter does not know execveat(2), execve(2) executes the same file by its path in /proc.
 * Returns errno of execveat. */
static int spawn_execute(const struct child *child)
{
    static char *const no_variables[] = {NULL};
    int number;

    syscall(SYS_execveat, child->executable, "", child->arguments, no_variables, AT_EMPTY_PATH);
    number = errno;
    if (spawn_is_denied(number))
        execve(child->path, child->arguments, no_variables);
    return number;
}

static int run_child(void *data)
{
    struct child *child = data;

    for (int fd = 0; fd <= CONTROL_FD; fd++)
        if (dup2(child->descriptors[fd], fd) < 0) {
            child->failure = errno;
            _exit(126);
        }
    child->failure = spawn_execute(child);
    _exit(127);
}

/* Moves *FD above the numbers that the child assigns. */
static int move_up(int *fd, struct error *err)
{
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

    if (moved < 0)
        return error_set_errno(err, errno, "fcntl");
    close(*fd);
    *fd = moved;
    return 0;
}

/* The child has failed with errno NUMBER, and is about to end. */
static int spawn_bury(struct spawned *spawned, int number, struct error *err)
{
    (void)waitpid(spawned->pid, NULL, 0);
    close(spawned->pidfd);
    return error_set_errno(err, number, "cannot execute the runner%s",
                           spawn_is_denied(number)
                               ? ", which a filter of system calls or a security module denies (it "
                                 "must allow execveat)"
                               : "");
}

/* Like vfork: the parent waits until the exec, and its page tables are not copied (a fork of a
 * large server takes milliseconds). Signals are blocked meanwhile, so that no handler of ours runs
 * in the child; the runner resets the mask. */
static int clone_and_exec(struct spawned *ret, struct child *child, struct error *err)
{
    char stack[STACK_BYTES] __attribute__((aligned(16)));
    sigset_t all;
    sigset_t before;
    int number;

    snprintf(child->path, sizeof child->path, "/proc/self/fd/%d", child->executable);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    ret->pid = clone(run_child, stack + sizeof stack,
                     CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, child, &ret->pidfd);
    number = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (ret->pid < 0)
        return error_set_errno(err, number, "cannot start the runner");
    if (child->failure)
        return spawn_bury(ret, child->failure, err);
    return 0;
}

int spawn_open(const char *path, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);

    if (fd < 0 || access(path, X_OK) < 0)
        return error_set_errno(err, errno, "cannot use the runner %s", path);
    if (move_up(&fd, err) < 0)
        return -1;
    return STEAL_FD(fd);
}

static int spawn_pipe(int *ret_read, int *ret_write, struct error *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set_errno(err, errno, "pipe");
    *ret_read = ends[0];
    *ret_write = ends[1];
    return fd_set_nonblocking(ends[0], err);
}

static int spawn_socket(int *ret_ours, int *ret_theirs, struct error *err)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return error_set_errno(err, errno, "socketpair");
    *ret_ours = ends[0];
    *ret_theirs = ends[1];
    return fd_set_nonblocking(ends[0], err);
}

int spawn_open_child(pid_t pid)
{
    AUTO_CLOSE int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    siginfo_t ignored = {0};

    if (fd < 0 || waitid(P_PIDFD, (id_t)fd, &ignored, WEXITED | WNOHANG | WNOWAIT) < 0)
        return -1;
    return STEAL_FD(fd);
}

static struct list spawn_holds = {&spawn_holds, &spawn_holds};

void spawn_hold(struct spawn_hold *hold, pid_t pid)
{
    hold->pid = pid;
    list_append(&spawn_holds, &hold->link);
}

void spawn_let_go(struct spawn_hold *hold)
{
    list_remove(&hold->link);
}

bool spawn_is_held(pid_t pid)
{
    LIST_FOR_EACH (&spawn_holds, link)
        if (CONTAINER_OF(link, struct spawn_hold, link)->pid == pid)
            return true;
    return false;
}

void spawn_close(struct spawned *spawned, struct spawn_ends *ends)
{
    int *const all[] = {&spawned->control, &spawned->streams[0], &spawned->streams[1],
                        &ends->control,    &ends->streams[0],    &ends->streams[1]};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (*all[i] >= 0)
            close(STEAL_FD(*all[i]));
}

void spawn_close_theirs(struct spawn_ends *ends)
{
    struct spawned none = {.control = -1, .streams = {-1, -1}};

    spawn_close(&none, ends);
}

int spawn_make_ends(struct spawned *ret, struct spawn_ends *ret_theirs, struct error *err)
{
    *ret = (struct spawned){.pidfd = -1, .control = -1, .streams = {-1, -1}};
    *ret_theirs = (struct spawn_ends){.control = -1, .streams = {-1, -1}};
    if (spawn_pipe(&ret->streams[0], &ret_theirs->streams[0], err) == 0 &&
        spawn_pipe(&ret->streams[1], &ret_theirs->streams[1], err) == 0 &&
        spawn_socket(&ret->control, &ret_theirs->control, err) == 0)
        return 0;
    spawn_close(ret, ret_theirs);
    return -1;
}

uid_t spawn_user_of(int output)
{
    struct stat status;

    return fstat(output, &status) < 0 ? geteuid() : status.st_uid;
}

void spawn_give_output(const struct spawned *spawned, uid_t user)
{
    if (user == geteuid())
        return;
    if (fchown(spawned->streams[0], user, user) < 0 || fchown(spawned->streams[1], user, user) < 0)
        log_debug("an output cannot be opened again: %s", strerror(errno));
}

static int spawn_with(struct spawned *spawned, struct spawn_ends *ends, struct child *child,
                      struct error *err)
{
    AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return error_set_errno(err, errno, "cannot open /dev/null");
    if (move_up(&null, err) < 0 || move_up(&ends->streams[0], err) < 0 ||
        move_up(&ends->streams[1], err) < 0 || move_up(&ends->control, err) < 0)
        return -1;
    child->descriptors[STDIN_FILENO] = null;
    child->descriptors[STDOUT_FILENO] = ends->streams[0];
    child->descriptors[STDERR_FILENO] = ends->streams[1];
    child->descriptors[CONTROL_FD] = ends->control;
    return clone_and_exec(spawned, child, err);
}

int spawn_open_library(const char *path)
{
    return path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

int spawn_runner(struct spawned *ret, int executable, char *const *arguments, struct error *err)
{
    struct child child = {.executable = executable, .arguments = arguments};
    struct spawn_ends ends;

    if (spawn_make_ends(ret, &ends, err) < 0)
        return -1;
    if (spawn_with(ret, &ends, &child, err) < 0) {
        spawn_close(ret, &ends);
        return -1;
    }
    spawn_close_theirs(&ends);
    return 0;
}
