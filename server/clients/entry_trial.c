#include "server/clients/entry_trial.h"

#include "base/cleanup.h"
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
#include <unistd.h>

#define ENTRY_TRIAL_QUESTION                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"                         \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"                                      \
    "\"clientInfo\":{\"name\":\"pyexecd install\",\"version\":\"1\"}}}\n"

enum {
    ENTRY_TRIAL_SECONDS = 30,
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

/* Reads what FD has into ANSWER; false at its end, and when nothing comes. */
static bool entry_trial_read(int fd, char *answer, size_t *length)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    ssize_t got;

    if (poll(&poll_fd, 1, ENTRY_TRIAL_SECONDS * 1000) <= 0)
        return false;
    got = read(fd, answer + *length, ENTRY_TRIAL_ANSWER_BYTES - *length);
    if (got > 0)
        *length += (size_t)got;
    return got > 0 && *length < ENTRY_TRIAL_ANSWER_BYTES && !memchr(answer, '\n', *length);
}

static int entry_trial_ask(int fd, struct error *err)
{
    AUTO_FREE char *answer = memory_new(ENTRY_TRIAL_ANSWER_BYTES + 1, 1);
    size_t length = 0;

    if (fd_write_all(fd, ENTRY_TRIAL_QUESTION, strlen(ENTRY_TRIAL_QUESTION), err) < 0)
        return -1;
    while (entry_trial_read(fd, answer, &length))
        ;
    if (strstr(answer, "\"serverInfo\""))
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, "the entry starts no MCP server that answers");
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
        kill(pid, SIGTERM);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    return status;
}
