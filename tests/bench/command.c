#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OUTPUT_BYTES = 65536,
};

void command_fail(const char *format, ...)
{
    va_list arguments;
    char *text;
    json_t *answer;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    va_end(arguments);
    answer = json_pack("{s:s}", "error", text);
    json_dumpf(answer, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    _exit(1);
}

double command_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* The strings of the order's "command", which must be there. Owned by the caller, but not the
 * strings. */
static char **command_words(json_t *order)
{
    json_t *words = json_object_get(order, "command");
    char **argv = calloc(json_array_size(words) + 1, sizeof *argv);
    json_t *word;
    size_t i;

    json_array_foreach (words, i, word)
        argv[i] = (char *)json_string_value(word);
    if (!argv[0])
        command_fail("an order without a command");
    return argv;
}

static char **command_variables(json_t *order)
{
    json_t *variables = json_object_get(order, "environment");
    char **environment = calloc(json_object_size(variables) + 1, sizeof *environment);
    const char *name;
    json_t *value;
    size_t i = 0;

    json_object_foreach (variables, name, value)
        if (asprintf(&environment[i++], "%s=%s", name, json_string_value(value)) < 0)
            abort();
    return environment;
}

void command_read(json_t *order, struct command *command)
{
    *command = (struct command){.argv = command_words(order),
                                .environment = command_variables(order),
                                .expect = json_string_value(json_object_get(order, "expect")),
                                .output = malloc(OUTPUT_BYTES)};
}

void command_free(struct command *command)
{
    for (char **variable = command->environment; *variable; variable++)
        free(*variable);
    free(command->environment);
    free(command->argv);
    free(command->output);
}

/* Starts it with its stdin from IN, its stdout to OUT, and its stderr to LOG unless that is NULL.
 */
pid_t command_spawn(struct command *command, int in, int out, const char *log)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t ignored;
    pid_t pid;
    int error;

    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (log)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC,
                                         0600);
    error = posix_spawn(&pid, command->argv[0], &actions, &attributes, command->argv,
                        command->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error)
        command_fail("cannot start %s: %s", command->argv[0], strerror(error));
    return pid;
}

void command_make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        command_fail("pipe: %s", strerror(errno));
}

/* Reads all of FD into OUTPUT, what does not fit left out, and ends it with a NUL. */
static void command_collect(int fd, char *output)
{
    char rest[4096];
    size_t length = 0;
    ssize_t count;

    do {
        bool fits = length + sizeof rest < OUTPUT_BYTES;

        count = read(fd, fits ? output + length : rest, sizeof rest);
        if (fits && count > 0)
            length += (size_t)count;
    } while (count > 0);
    output[length] = '\0';
}

double command_run(struct command *command)
{
    double begun = command_clock_us();
    double taken;
    int ends[2];
    int status;
    pid_t pid;

    command_make_pipe(ends);
    pid = command_spawn(command, -1, ends[1], NULL);
    close(ends[1]);
    command_collect(ends[0], command->output);
    waitpid(pid, &status, 0);
    taken = command_clock_us() - begun;
    close(ends[0]);
    if (status != 0 || (command->expect && !strstr(command->output, command->expect)))
        command_fail("%s ended with wait status %d: %s", command->argv[0], status, command->output);
    return taken;
}

void *command_repeat(void *argument)
{
    struct command *command = argument;

    while (command_clock_us() < command->deadline) {
        command_run(command);
        command->count++;
    }
    return NULL;
}
