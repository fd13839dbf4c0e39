#include "base/python_helpers.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HELPER_LOOKS = 64, /* children that are looked at */
    HELPER_COMMAND_BYTES = 4096,
    HELPER_PAUSES = 20, /* of one look, together */
    HELPER_PAUSE_NANOSECONDS = 500000,
};

/* True when WORD, an argument of a Python, is the code of a helper. */
static bool is_helper_code(const char *word)
{
    static const char *const modules[] = {
        "multiprocessing.resource_tracker import main;",
        "multiprocessing.forkserver import main;",
        "loky.backend.resource_tracker import main;",
    };

    if (strncmp(word, "from ", strlen("from ")) != 0)
        return false;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strstr(word, modules[i]))
            return true;
    return false;
}

/* COMMAND has LENGTH bytes, and behind them a NUL. */
static bool is_helper_command(const char *command, size_t length)
{
    static const char option[] = {'-', 'c', '\0'};
    bool is_code = false; /* the word before was this option */

    for (const char *word = command; word < command + length; word += strlen(word) + 1) {
        if (is_code && is_helper_code(word))
            return true;
        is_code = strcmp(word, option) == 0;
    }
    return false;
}

/* The command line of PID, with a NUL behind its bytes. Returns their number. */
static size_t read_command(pid_t pid, char command[HELPER_COMMAND_BYTES + 1])
{
    char path[64];
    ssize_t length;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? 0 : read(fd, command, HELPER_COMMAND_BYTES);
    if (fd >= 0)
        close(fd);
    command[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

/* In the middle of an exec a process has no command line, and its parent goes on before that is
 * over. *PAUSES are left to wait for it. */
static bool is_helper(pid_t pid, unsigned *pauses)
{
    const struct timespec pause = {.tv_nsec = HELPER_PAUSE_NANOSECONDS};
    char command[HELPER_COMMAND_BYTES + 1];
    size_t length;

    while ((length = read_command(pid, command)) == 0 && *pauses > 0) {
        nanosleep(&pause, NULL);
        --*pauses;
    }
    return is_helper_command(command, length);
}

void python_helpers_find(struct python_helpers *ret)
{
    FILE *children = fopen("/proc/thread-self/children", "re");
    unsigned pauses = HELPER_PAUSES;
    int pid;

    *ret = (struct python_helpers){0};
    for (unsigned i = 0; children && i < HELPER_LOOKS && fscanf(children, "%d", &pid) == 1; i++)
        if (ret->count < PYTHON_HELPERS_MOST && is_helper(pid, &pauses))
            ret->pids[ret->count++] = pid;
    if (children)
        fclose(children);
}

bool python_helpers_have(const struct python_helpers *helpers, pid_t pid)
{
    for (unsigned i = 0; i < helpers->count; i++)
        if (helpers->pids[i] == pid)
            return true;
    return false;
}
