#include "base/clock.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

void runner_report_to(int fd, enum control_type type, const void *payload, size_t length)
{
    struct control_header header = {.type = type, .length = (uint32_t)length};
    struct iovec parts[] = {
        {.iov_base = &header, .iov_len = sizeof header},
        {.iov_base = (void *)payload, .iov_len = length},
    };
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = length > 0 ? 2 : 1};

    while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
        if (errno != EINTR) {
            /* A server that misses a report would wait, so both sides are shown the end of the
             * channel. */
            shutdown(fd, SHUT_RDWR);
            return;
        }
}

void runner_report(enum control_type type, const void *payload, size_t length)
{
    runner_report_to(CONTROL_FD, type, payload, length);
}

void report_text(enum control_type type, const char *text)
{
    runner_report(type, text, strlen(text));
}

double runner_seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void report_refusal(enum control_need need, const char *text)
{
    struct {
        struct control_refused head;
        char text[256];
    } message = {.head = {.need = need, .number = errno}};

    snprintf(message.text, sizeof message.text, "%s: %s", text, strerror(errno));
    runner_report(CONTROL_REFUSED, &message, sizeof message.head + strlen(message.text));
}

void runner_refuse(enum control_need need, const char *text)
{
    report_refusal(need, text);
    _exit(1);
}

pid_t fork_sibling(void)
{
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

void runner_need(enum control_need need, int result, const char *text)
{
    if (result < 0)
        runner_refuse(need, text);
}
