#include "environments/process/runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_SECONDS 1.9 /* less than the server waits for an empty tree */

struct supervisor {
    const struct preparation *preparation;
    pid_t program; /* 0: not started */
    int signals;   /* signalfd of SIGCHLD */
    int start;     /* tells whether the program was executed; -1: told */
};

/* Ends everything that is left. In a PID namespace the kernel does it when its pid 1 ends; else
 * everything is stopped first, so that nothing forks while it is being killed, and each death hands
 * us its own children, until there are none. */
static _Noreturn void end_tree(const struct supervisor *supervisor)
{
    double deadline = monotonic_seconds() + KILL_SECONDS;

    if (supervisor->preparation->containment == CONTAINMENT_PID_NAMESPACE)
        _exit(0);
    while (monotonic_seconds() < deadline) {
        pid_t pid;

        signal_descendants(SIGSTOP);
        signal_descendants(SIGKILL);
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0 && errno == ECHILD)
            _exit(0);
        poll(NULL, 0, 1);
    }
    _exit(1);
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void tell_start(struct supervisor *supervisor)
{
    const struct control_started started = {.time = monotonic_seconds()};
    char text[256];
    ssize_t length = read(supervisor->start, text, sizeof text - 1);

    close(supervisor->start);
    supervisor->start = -1;
    if (length <= 0) {
        report(CONTROL_STARTED, &started, sizeof started, -1);
        return;
    }
    text[length] = '\0';
    report_text(CONTROL_FAILED, text);
    end_tree(supervisor);
}

static void reap(struct supervisor *supervisor)
{
    struct signalfd_siginfo ignored;
    struct rusage usage;
    int status;
    pid_t pid;

    (void)!read(supervisor->signals, &ignored, sizeof ignored); /* several may have become one */
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (pid != supervisor->program)
            continue;
        if (supervisor->start >= 0)
            tell_start(supervisor);
        report(CONTROL_ENDED,
               &(struct control_ended){
                   .time = monotonic_seconds(),
                   .cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime),
                   .peak_bytes = (uint64_t)usage.ru_maxrss * 1024,
                   .status = status,
               },
               sizeof(struct control_ended), -1);
        end_tree(supervisor);
    }
}

static bool receive(void *data, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t count = recv(CONTROL_FD, (char *)data + done, length - done, 0);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

/* The streams are the program's alone, or their end could not be seen. */
static void leave_streams(void)
{
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
}

static void start_program(struct supervisor *supervisor)
{
    struct control_header header;
    struct program program = {0};
    char *payload;

    if (!receive(&header, sizeof header))
        end_tree(supervisor);
    if (supervisor->program || header.type != CONTROL_RUN || header.length > CONTROL_LIMIT_BYTES)
        _exit(1);
    payload = malloc(header.length + 1);
    if (!payload || !receive(payload, header.length) ||
        !program_parse(&program, payload, header.length))
        _exit(1);
    supervisor->program = program_start(&program, supervisor->preparation, &supervisor->start);
    if (supervisor->program < 0) {
        char text[128];

        snprintf(text, sizeof text, "cannot fork: %s", strerror(errno));
        report_text(CONTROL_FAILED, text);
        end_tree(supervisor);
    }
    leave_streams();
}

static int watch_children(void)
{
    sigset_t all;
    sigset_t child;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

void supervise(const struct preparation *preparation)
{
    struct supervisor supervisor = {.preparation = preparation, .start = -1};

    supervisor.signals = watch_children();
    if (supervisor.signals < 0)
        refuse(CONTROL_REFUSED, "signalfd");
    report_text(CONTROL_READY, preparation->missing);
    for (;;) {
        struct pollfd watched[] = {
            {.fd = CONTROL_FD, .events = POLLIN},
            {.fd = supervisor.signals, .events = POLLIN},
            {.fd = supervisor.start, .events = POLLIN}, /* ignored while it is -1 */
        };

        if (poll(watched, sizeof watched / sizeof *watched, -1) < 0)
            continue;
        if (watched[0].revents)
            start_program(&supervisor); /* or the end of the lifeline */
        if (watched[2].revents && supervisor.start >= 0)
            tell_start(&supervisor);
        if (watched[1].revents)
            reap(&supervisor);
    }
}
