#include "server/clients/entry_trial.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENTRY_TRIAL_QUESTION                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"                         \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"                                      \
    "\"clientInfo\":{\"name\":\"pyexecd install\",\"version\":\"1\"}}}\n"

enum {
    ENTRY_TRIAL_SECONDS = 30,
    ENTRY_TRIAL_END_SECONDS = 10,
    ENTRY_TRIAL_LOOK_NANOSECONDS = 10 * 1000 * 1000,
    ENTRY_TRIAL_ANSWER_BYTES = 256 * 1024,
};

/* NULL-terminated; the strings are borrowed, the array is owned by the caller. */
static char **entry_trial_arguments(const json_t *command)
{
    char **arguments = memory_new(json_array_size(command) + 1, sizeof *arguments);

    for (size_t i = 0; i < json_array_size(command); i++)
        arguments[i] = (char *)json_string_value(json_array_get(command, i));
    return arguments;
}

/* Starts COMMAND with FD as its standard input and output. */
static int entry_trial_start(const json_t *command, int fd, pid_t *ret_pid, struct error *err)
{
    AUTO_FREE char **arguments = entry_trial_arguments(command);
    posix_spawn_file_actions_t actions;
    int number;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    number = posix_spawn(ret_pid, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return number == 0 ? 0 : error_set_errno(err, number, "cannot start %s", arguments[0]);
}

/* Reads what FD has into ANSWER; false at its end, and when nothing comes before DEADLINE. */
static bool entry_trial_read(int fd, char *answer, size_t *length, double deadline)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    const double left = deadline - clock_seconds();
    ssize_t got;

    if (left <= 0 || poll(&poll_fd, 1, (int)(left * 1e3) + 1) <= 0)
        return false;
    got = read(fd, answer + *length, ENTRY_TRIAL_ANSWER_BYTES - *length);
    if (got > 0)
        *length += (size_t)got;
    return got > 0 && *length < ENTRY_TRIAL_ANSWER_BYTES && !memchr(answer, '\n', *length);
}

static int entry_trial_ask(int fd, struct error *err)
{
    const double deadline = clock_seconds() + ENTRY_TRIAL_SECONDS;
    AUTO_FREE char *answer = memory_new(ENTRY_TRIAL_ANSWER_BYTES + 1, 1);
    size_t length = 0;

    if (fd_write_all(fd, ENTRY_TRIAL_QUESTION, strlen(ENTRY_TRIAL_QUESTION), err) < 0)
        return -1;
    while (entry_trial_read(fd, answer, &length, deadline))
        ;
    if (strstr(answer, "\"serverInfo\""))
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, "the entry starts no MCP server that answers");
}

/* Ends PID, our child, which may not listen to SIGTERM. */
static void entry_trial_end(pid_t pid)
{
    static const struct timespec pause = {.tv_nsec = ENTRY_TRIAL_LOOK_NANOSECONDS};
    const double deadline = clock_seconds() + ENTRY_TRIAL_END_SECONDS;

    kill(pid, SIGTERM);
    while (clock_seconds() < deadline) {
        if (waitpid(pid, NULL, WNOHANG) != 0)
            return;
        nanosleep(&pause, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

int entry_trial_run(const json_t *command, struct error *err)
{
    int ends[2];
    pid_t pid;
    int status;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return error_set_errno(err, errno, "cannot make a pair of sockets");
    status = entry_trial_start(command, ends[1], &pid, err);
    close(ends[1]);
    if (status == 0) {
        status = entry_trial_ask(ends[0], err);
        entry_trial_end(pid);
    }
    close(ends[0]);
    return status;
}
