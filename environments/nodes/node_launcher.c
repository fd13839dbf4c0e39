#include "environments/nodes/node_launcher.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/list.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODE_LAUNCHER_SELF_SECONDS 1.5 /* for the end by itself, with all trees of the node */
#define NODE_LAUNCHER_TERM_SECONDS 1.5 /* for the end by SIGTERM: srun tells its controller */
#define NODE_LAUNCHER_REST_SECONDS 1.5 /* for its children: a child of srun ends the job */

enum {
    NODE_LAUNCHER_READ_BYTES = 4096,
    NODE_LAUNCHER_READS = 17,   /* one more than a pipe holds */
    NODE_LAUNCHER_STATUS = 127, /* as shells have it: it cannot be executed */
};

/* The ends of the launcher, above 2. */
struct node_launcher_ends {
    int input;
    int output;
    int errors;
};

static void node_launcher_close(struct node_launcher *launcher)
{
    ev_io_stop(launcher->loop, &launcher->reaping);
    ev_io_stop(launcher->loop, &launcher->speaking);
    ev_timer_stop(launcher->loop, &launcher->patience);
    spawn_let_go(&launcher->hold);
    close(STEAL_FD(launcher->errors));
    close(STEAL_FD(launcher->pidfd));
}

/* False when no more bytes can be read now. */
static bool node_launcher_read(struct node_launcher *launcher)
{
    char bytes[NODE_LAUNCHER_READ_BYTES];
    const ssize_t count = read(launcher->errors, bytes, sizeof bytes);

    if (count > 0)
        last_lines_feed(&launcher->lines, 0, bytes, (size_t)count);
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        ev_io_stop(launcher->loop, &launcher->speaking);
    return count > 0;
}

/* Reads the bytes in its pipe, however fast its children write more. */
static void node_launcher_drain(struct node_launcher *launcher)
{
    for (int i = 0; i < NODE_LAUNCHER_READS && node_launcher_read(launcher); i++)
        continue;
}

static void node_launcher_describe(struct node_launcher *launcher, const siginfo_t *end)
{
    if (end->si_code == CLD_EXITED)
        snprintf(launcher->how, sizeof launcher->how, "ended with exit status %d", end->si_status);
    else if (end->si_pid != 0)
        snprintf(launcher->how, sizeof launcher->how, "was killed by signal %d (%s)",
                 end->si_status, strsignal(end->si_status));
    else
        snprintf(launcher->how, sizeof launcher->how, "%s", "has ended");
}

/* As long as it is not reaped, nobody else can have its process group. */
static void node_launcher_reap(struct node_launcher *launcher)
{
    siginfo_t end = {0};

    (void)kill(-launcher->pid, SIGKILL);
    (void)waitid(P_PIDFD, (id_t)launcher->pidfd, &end, WEXITED | WNOHANG);
    node_launcher_drain(launcher);
    (void)last_lines_end(&launcher->lines);
    node_launcher_describe(launcher, &end);
    node_launcher_close(launcher);
    launcher->ended(launcher);
}

static bool node_launcher_has_ended(const struct node_launcher *launcher)
{
    siginfo_t end = {0};

    return waitid(P_PIDFD, (id_t)launcher->pidfd, &end, WEXITED | WNOHANG | WNOWAIT) < 0 ||
           end.si_pid != 0;
}

static void node_launcher_wait(struct node_launcher *launcher, double seconds)
{
    ev_timer_stop(launcher->loop, &launcher->patience);
    ev_now_update(launcher->loop);
    ev_timer_set(&launcher->patience, seconds, 0.);
    ev_timer_start(launcher->loop, &launcher->patience);
}

/* It has ended. Its children, which have its standard error, may take a while longer. */
static void node_launcher_await_rest(struct node_launcher *launcher)
{
    launcher->is_rest = true;
    ev_io_stop(launcher->loop, &launcher->reaping);
    node_launcher_drain(launcher);
    if (ev_is_active(&launcher->speaking))
        node_launcher_wait(launcher, NODE_LAUNCHER_REST_SECONDS);
    else
        node_launcher_reap(launcher);
}

static void node_launcher_on_speech(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct node_launcher *launcher = CONTAINER_OF(watcher, struct node_launcher, speaking);

    if (events & EV_ERROR)
        ev_io_stop(loop, watcher);
    else
        (void)node_launcher_read(launcher);
    if (launcher->is_rest && !ev_is_active(watcher))
        node_launcher_reap(launcher);
}

/* If it cannot be watched, it is ended, and looked at until it is gone. */
static void node_launcher_on_end(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct node_launcher *launcher = CONTAINER_OF(watcher, struct node_launcher, reaping);

    (void)loop;
    if (events & EV_ERROR)
        node_launcher_end(launcher, true);
    else if (node_launcher_has_ended(launcher))
        node_launcher_await_rest(launcher);
}

static void node_launcher_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct node_launcher *launcher = CONTAINER_OF(timer, struct node_launcher, patience);

    (void)loop;
    (void)events;
    if (launcher->is_rest) {
        node_launcher_reap(launcher);
    } else if (node_launcher_has_ended(launcher)) {
        node_launcher_await_rest(launcher);
    } else {
        (void)kill(launcher->pid, launcher->signal);
        launcher->signal = SIGKILL;
        node_launcher_wait(launcher, NODE_LAUNCHER_TERM_SECONDS);
    }
}

void node_launcher_end(struct node_launcher *launcher, bool is_urgent)
{
    if (launcher->pidfd < 0 || launcher->is_rest ||
        (ev_is_active(&launcher->patience) && !is_urgent))
        return;
    node_launcher_wait(launcher, is_urgent ? 0. : NODE_LAUNCHER_SELF_SECONDS);
}

void node_launcher_kill(const struct node_launcher *launcher)
{
    if (launcher->pidfd < 0)
        return;
    (void)kill(launcher->pid, SIGKILL); /* it may have no group yet */
    (void)kill(-launcher->pid, SIGKILL);
}

/* The start */

/* In the child. A server that has died meanwhile cannot end it any more. */
__attribute__((noreturn)) static void node_launcher_execute(const struct node_launcher_ends *ends,
                                                            const char *const *command,
                                                            pid_t server)
{
    sigset_t none;

    setsid();
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == server && dup2(ends->input, STDIN_FILENO) >= 0 &&
        dup2(ends->output, STDOUT_FILENO) >= 0 && dup2(ends->errors, STDERR_FILENO) >= 0)
        execvp(command[0], (char *const *)command);
    dprintf(STDERR_FILENO, "%s: %s\n", command[0], strerror(errno));
    _exit(NODE_LAUNCHER_STATUS);
}

static int node_launcher_fork(struct node_launcher *launcher, const struct node_launcher_ends *ends,
                              const char *const *command, struct error *err)
{
    const pid_t server = getpid();

    launcher->pid = fork();
    if (launcher->pid == 0)
        node_launcher_execute(ends, command, server);
    if (launcher->pid < 0)
        return error_set_errno(err, errno, "cannot start %s", command[0]);
    launcher->pidfd = spawn_open_child(launcher->pid);
    if (launcher->pidfd >= 0)
        return 0;
    (void)kill(launcher->pid, SIGKILL);
    (void)waitpid(launcher->pid, NULL, 0);
    return error_set_errno(err, errno, "cannot watch %s", command[0]);
}

static int node_launcher_pipe(int *ret_read, int *ret_write, struct error *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set_errno(err, errno, "pipe");
    *ret_read = ends[0];
    *ret_write = ends[1];
    return 0;
}

static void node_launcher_watch(struct node_launcher *launcher)
{
    launcher->signal = SIGTERM;
    spawn_hold(&launcher->hold, launcher->pid);
    ev_io_init(&launcher->reaping, node_launcher_on_end, launcher->pidfd, EV_READ);
    ev_io_init(&launcher->speaking, node_launcher_on_speech, launcher->errors, EV_READ);
    ev_timer_init(&launcher->patience, node_launcher_on_patience, 0., 0.);
    ev_io_start(launcher->loop, &launcher->reaping);
    ev_io_start(launcher->loop, &launcher->speaking);
}

int node_launcher_start(struct node_launcher *launcher, const char *const *command, int *ret_in,
                        int *ret_out, struct error *err)
{
    AUTO_CLOSE int in = -1;
    AUTO_CLOSE int out = -1;
    AUTO_CLOSE int errors = -1;
    AUTO_CLOSE int their_in = -1;
    AUTO_CLOSE int their_out = -1;
    AUTO_CLOSE int their_errors = -1;

    launcher->pidfd = -1;
    launcher->errors = -1;
    if (node_launcher_pipe(&their_in, &out, err) < 0 ||
        node_launcher_pipe(&in, &their_out, err) < 0 ||
        node_launcher_pipe(&errors, &their_errors, err) < 0 || fd_set_nonblocking(in, err) < 0 ||
        fd_set_nonblocking(out, err) < 0 || fd_set_nonblocking(errors, err) < 0 ||
        node_launcher_fork(launcher,
                           &(struct node_launcher_ends){their_in, their_out, their_errors}, command,
                           err) < 0)
        return -1;
    launcher->errors = STEAL_FD(errors);
    node_launcher_watch(launcher);
    *ret_in = STEAL_FD(in);
    *ret_out = STEAL_FD(out);
    return 0;
}
