#include "environments/process/runner/copies.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/sender.h"
#include "environments/process/runner/descendants.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    COPY_CGROUPS_BYTES = 4096,
    COPY_LOOKS = 100, /* for its descendants: more is a fork bomb */
    COPY_WAITING = 2, /* at the gate: the copy, and the program, which starts nothing meanwhile */
};

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

/* Only we reap the copy, so no other process has its number before. */
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
    message_send_to(copy->control, CONTROL_FAILED, why, strlen(why));
    copy_leave(copy);
}

static void copy_refuse(int control, const char *why)
{
    message_send_to(control, CONTROL_FAILED, why, strlen(why));
    close(control);
}

void copies_begin(struct copies *copies, const int descriptors[CONTROL_DESCRIPTORS])
{
    struct copy copy = {.control = descriptors[CONTROL_COPY_CHANNEL],
                        .gate = descriptors[CONTROL_COPY_GATE]};
    size_t i = 0;

    message_greet(copy.control);
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

/* One message over the gate of COPY, TEXT of SIZE bytes with its NUL; *RET_SENDER is the pid of the
 * sender. Returns its length; 0: the gate has ended. */
static size_t copy_receive(const struct copy *copy, char *text, size_t size, pid_t *ret_sender)
{
    ssize_t count;

    *ret_sender = 0;
    count = sender_receive(copy->gate, text, size - 1, MSG_DONTWAIT, ret_sender);
    text[count > 0 ? count : 0] = '\0';
    return count > 0 ? (size_t)count : 0;
}

/* The script chose the text: characters that no terminal or model should get become '?'. */
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

/* True when the process PID, with all its threads, is in the cgroups of COPY, or has ended. */
static bool copy_take(const struct copy *copy, pid_t pid)
{
    char number[16];
    int length = snprintf(number, sizeof number, "%d", (int)pid);

    for (size_t i = 0; i < COPY_CGROUPS && copy->cgroups[i] >= 0; i++)
        if (write(copy->cgroups[i], number, (size_t)length) != length && errno != ESRCH)
            return false;
    return true;
}

/* The file NAME of PID in /proc; "": it has ended. */
static void copy_read(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    int file;
    ssize_t length;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    length = file >= 0 ? read(file, text, size - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    if (file >= 0)
        close(file);
}

/* A search for processes that a copy has started before it was in its cgroups. */
struct copy_look {
    struct descendants_visitor visitor;
    const struct copies *copies;
    const struct copy *copy;
    const char *cgroups;      /* of the program */
    unsigned long long began; /* of the copy, in ticks */
    unsigned *found;
    bool *has_failed;
};

static void copy_visit(const struct descendants_visitor *visitor, pid_t pid, pid_t parent)
{
    const struct copy_look *look = CONTAINER_OF(visitor, const struct copy_look, visitor);
    char cgroups[COPY_CGROUPS_BYTES];

    (void)parent;
    copy_read(pid, "cgroup", cgroups, sizeof cgroups);
    if (strcmp(cgroups, look->cgroups) != 0)
        return;
    *look->found += process_stat_read(pid).state != 'Z';
    if (!copy_take(look->copy, pid))
        *look->has_failed = true;
}

static bool copies_have(const struct copies *copies, pid_t pid)
{
    for (size_t i = 0; i < COPIES_MOST; i++)
        if (copies->list[i].control > 0 && copies->list[i].pid == pid)
            return true;
    return false;
}

/* If the parent of a process has ended, the process is our child. If it is older than the copy, it
 * is not from the copy. */
static void copy_visit_orphan(const struct descendants_visitor *visitor, pid_t pid, pid_t parent)
{
    const struct copy_look *look = CONTAINER_OF(visitor, const struct copy_look, visitor);
    struct copy_look below = *look;

    if (copies_have(look->copies, pid) || process_stat_read(pid).began < look->began)
        return;
    below.visitor.visit = copy_visit;
    copy_visit(&below.visitor, pid, parent);
    descendants_visit_all(pid, &below.visitor);
}

/* Looks again until nothing is found: processes that were found may have started more meanwhile. */
static bool copy_take_all(const struct copies *copies, const struct copy *copy)
{
    char cgroups[COPY_CGROUPS_BYTES];
    bool has_failed = false;
    unsigned found = 1;
    const unsigned long long began = process_stat_read(copy->pid).began;
    const struct copy_look orphans = {{copy_visit_orphan}, copies, copy, cgroups, began, &found,
                                      &has_failed};
    const struct copy_look below = {{copy_visit}, copies, copy,       cgroups,
                                    began,        &found, &has_failed};

    copy_read(copy->pid, "cgroup", cgroups, sizeof cgroups);
    if (!*cgroups || !copy_take(copy, copy->pid))
        return false;
    for (int i = 0; i < COPY_LOOKS && found > 0 && !has_failed; i++) {
        found = 0;
        descendants_visit_all(copy->pid, &below.visitor);
        descendants_visit_children(getpid(), &orphans.visitor);
    }
    return found == 0 && !has_failed;
}

static void copy_start(const struct copies *copies, struct copy *copy, pid_t sender, pid_t program)
{
    struct control_started started;

    if (!copy_is_child(sender) || sender == program || copies_have(copies, sender)) {
        copy_fail(copy, "the copy of the session is not what it says");
        return;
    }
    copy->pid = sender;
    if (!copy_take_all(copies, copy)) {
        copy_fail(copy, "the copy of the session cannot enter a cgroup of its own");
        return;
    }
    started.time = clock_seconds();
    message_send_to(copy->control, CONTROL_STARTED, &started, sizeof started);
    for (int i = 0; i < COPY_WAITING; i++)
        (void)!send(copy->gate, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    copy_close_way(copy);
}

/* Reports the reason in the WORDS of its program. */
static void copy_tell_why(struct copy *copy, const char *words)
{
    char why[CONTROL_WHY_BYTES + 64];

    snprintf(why, sizeof why, "the session cannot be copied: its Python says: %s", words);
    copy_fail(copy, why);
}

static void copy_on_gate(const struct copies *copies, struct copy *copy, pid_t program)
{
    char text[CONTROL_WHY_BYTES];
    pid_t sender;
    size_t length = copy_receive(copy, text, sizeof text, &sender);

    copy_clean(text);
    if (length > 0 && *text == CONTROL_COPIED)
        copy_start(copies, copy, sender, program);
    else if (length > 0 && *text == CONTROL_NOT_COPIED)
        copy_tell_why(copy, text + 1);
    else
        copy_fail(copy, "the session has made no copy of itself");
}

/* A message of the server, or the end of the lifeline, at which the server kills the cgroups. */
static void copy_on_control(struct copies *copies, struct copy *copy)
{
    struct wire_head head;
    int descriptors[CONTROL_DESCRIPTORS];

    if (!message_receive_head(copy->control, &head, descriptors))
        copy_leave(copy);
    else if (head.type == CONTROL_COPY)
        copies_begin(copies, descriptors);
    else if (head.type == CONTROL_INTERRUPT && copy->pid > 0)
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

static void copies_look_at(struct copies *copies, int fd, pid_t program)
{
    for (size_t i = 0; i < COPIES_MOST; i++) {
        struct copy *copy = &copies->list[i];

        if (copy->control <= 0)
            continue;
        if (copy->control == fd)
            copy_on_control(copies, copy);
        else if (copy->gate == fd)
            copy_on_gate(copies, copy, program);
        else
            continue;
        return;
    }
}

void copies_look(struct copies *copies, const struct pollfd *watched, size_t count, pid_t program)
{
    for (size_t i = 0; i < count; i++)
        if (watched[i].revents)
            copies_look_at(copies, watched[i].fd, program);
}

void copies_note_end(struct copies *copies, pid_t pid, int status, const struct rusage *usage)
{
    const struct control_ended ended = {
        .time = clock_seconds(),
        .cpu_seconds = clock_seconds_of(usage->ru_utime) + clock_seconds_of(usage->ru_stime),
        .peak_bytes = (uint64_t)usage->ru_maxrss * 1024,
        .status = status,
    };

    for (size_t i = 0; i < COPIES_MOST; i++) {
        struct copy *copy = &copies->list[i];

        if (copy->control <= 0 || copy->pid != pid)
            continue;
        copy->pid = 0;
        message_send_to(copy->control, CONTROL_ENDED, &ended, sizeof ended);
        copy_leave(copy);
    }
}

void copies_signal(const struct copies *copies, int number)
{
    for (size_t i = 0; i < COPIES_MOST; i++)
        if (copies->list[i].pid > 0)
            kill(copies->list[i].pid, number);
}
