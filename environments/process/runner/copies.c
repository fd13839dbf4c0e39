#include "environments/process/runner/copies.h"

#include "base/clock.h"
#include "base/memory.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void copy_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void copy_close_way(struct copy *copy)
{
    copy_close(&copy->gate);
    for (size_t i = 0; i < COPY_CGROUPS; i++)
        copy_close(&copy->cgroups[i]);
}

/* Only we reap it, so its number is its own until that. */
static void copy_kill(const struct copy *copy)
{
    if (copy->pid > 0)
        kill(copy->pid, SIGKILL);
}

/* The server sees the end of the channel. */
static void copy_leave(struct copy *copy)
{
    copy_kill(copy);
    copy_close_way(copy);
    close(copy->control);
    *copy = (struct copy){0};
}

static void copy_fail(struct copy *copy, const char *why)
{
    runner_report_to(copy->control, CONTROL_FAILED, why, strlen(why));
    copy_leave(copy);
}

static void copy_refuse(int control, const char *why)
{
    runner_report_to(control, CONTROL_FAILED, why, strlen(why));
    close(control);
}

void copies_begin(struct copies *copies, const int descriptors[CONTROL_DESCRIPTORS])
{
    struct copy copy = {.control = descriptors[CONTROL_COPY_CHANNEL],
                        .gate = descriptors[CONTROL_COPY_GATE]};
    size_t i = 0;

    memcpy(copy.cgroups, descriptors + CONTROL_COPY_CGROUPS, sizeof copy.cgroups);
    while (i < COPIES_MOST && copies->list[i].control > 0)
        i++;
    if (i < COPIES_MOST && copy.control > 0 && copy.gate >= 0 && copy.cgroups[0] >= 0) {
        copies->list[i] = copy;
        return;
    }
    copy_close_way(&copy);
    if (copy.control > 0)
        copy_refuse(copy.control, i < COPIES_MOST ? "the descriptors of a copy did not arrive"
                                                  : "the session has too many copies");
}

/* One message over the gate of COPY, TEXT of SIZE bytes with its NUL; who has sent it: *RET_SENDER.
 * Returns its length; 0: the gate has ended. */
static size_t copy_receive(const struct copy *copy, char *text, size_t size, pid_t *ret_sender)
{
    union {
        struct cmsghdr alignment;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } ancillary;
    struct iovec part = {.iov_base = text, .iov_len = size - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary.bytes};
    ssize_t count = recvmsg(copy->gate, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *first = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct ucred who = {0};

    if (first && first->cmsg_type == SCM_CREDENTIALS)
        memcpy(&who, CMSG_DATA(first), sizeof who);
    *ret_sender = who.pid;
    text[count > 0 ? count : 0] = '\0';
    return count > 0 ? (size_t)count : 0;
}

/* The script chose the text: what no terminal or model should get is left out. */
static void copy_clean(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

static bool copy_is_child(pid_t pid)
{
    siginfo_t ignored;

    return pid > 1 && waitid(P_PID, (id_t)pid, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* True when all of COPY is in its cgroups. */
static bool copy_enter_cgroups(const struct copy *copy)
{
    char number[16];
    int length = snprintf(number, sizeof number, "%d", (int)copy->pid);

    for (size_t i = 0; i < COPY_CGROUPS && copy->cgroups[i] >= 0; i++)
        if (write(copy->cgroups[i], number, (size_t)length) != length)
            return false;
    return true;
}

static void copy_start(struct copy *copy, pid_t sender)
{
    struct control_started started;

    if (!copy_is_child(sender)) {
        copy_fail(copy, "the copy of the session is not what it says");
        return;
    }
    copy->pid = sender;
    if (!copy_enter_cgroups(copy)) {
        copy_fail(copy, "the copy of the session cannot enter a cgroup of its own");
        return;
    }
    started.time = clock_seconds();
    runner_report_to(copy->control, CONTROL_STARTED, &started, sizeof started);
    (void)!send(copy->gate, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    copy_close_way(copy);
}

/* In its program's words, as far as they go. */
static void copy_tell_why(struct copy *copy, const char *words)
{
    char why[CONTROL_WHY_BYTES + 64];

    snprintf(why, sizeof why, "the session cannot be copied: its Python says: %s", words);
    copy_fail(copy, why);
}

static void copy_on_gate(struct copy *copy)
{
    char text[CONTROL_WHY_BYTES];
    pid_t sender;
    size_t length = copy_receive(copy, text, sizeof text, &sender);

    copy_clean(text);
    if (length > 0 && *text == CONTROL_COPIED)
        copy_start(copy, sender);
    else if (length > 0 && *text == CONTROL_NOT_COPIED)
        copy_tell_why(copy, text + 1);
    else
        copy_fail(copy, "the session has made no copy of itself");
}

/* A message of the server's, or the end of the lifeline: the cgroups are killed then. */
static void copy_on_control(struct copies *copies, struct copy *copy)
{
    struct control_header header;
    int descriptors[CONTROL_DESCRIPTORS];

    if (!message_receive_header(copy->control, &header, descriptors))
        copy_leave(copy);
    else if (header.type == CONTROL_COPY)
        copies_begin(copies, descriptors);
    else if (header.type == CONTROL_INTERRUPT && copy->pid > 0)
        kill(copy->pid, SIGINT);
}

size_t copies_watch(const struct copies *copies, struct pollfd *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < COPIES_MOST; i++) {
        const struct copy *copy = &copies->list[i];

        if (copy->control > 0)
            ret[count++] = (struct pollfd){.fd = copy->control, .events = POLLIN};
        if (copy->control > 0 && copy->gate >= 0)
            ret[count++] = (struct pollfd){.fd = copy->gate, .events = POLLIN};
    }
    return count;
}

static void copies_look_at(struct copies *copies, int fd)
{
    for (size_t i = 0; i < COPIES_MOST; i++) {
        struct copy *copy = &copies->list[i];

        if (copy->control <= 0)
            continue;
        if (copy->control == fd)
            copy_on_control(copies, copy);
        else if (copy->gate == fd)
            copy_on_gate(copy);
        else
            continue;
        return;
    }
}

void copies_look(struct copies *copies, const struct pollfd *watched, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (watched[i].revents)
            copies_look_at(copies, watched[i].fd);
}

void copies_note_end(struct copies *copies, pid_t pid, int status, const struct rusage *usage)
{
    const struct control_ended ended = {
        .time = clock_seconds(),
        .cpu_seconds = runner_seconds(usage->ru_utime) + runner_seconds(usage->ru_stime),
        .peak_bytes = (uint64_t)usage->ru_maxrss * 1024,
        .status = status,
    };

    for (size_t i = 0; i < COPIES_MOST; i++) {
        struct copy *copy = &copies->list[i];

        if (copy->control <= 0 || copy->pid != pid)
            continue;
        copy->pid = 0;
        runner_report_to(copy->control, CONTROL_ENDED, &ended, sizeof ended);
        copy_leave(copy);
    }
}

void copies_signal(const struct copies *copies, int number)
{
    for (size_t i = 0; i < COPIES_MOST; i++)
        if (copies->list[i].pid > 0)
            kill(copies->list[i].pid, number);
}
