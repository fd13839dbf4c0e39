#include "environments/process/usage.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILE_BYTES = 64 * 1024, /* of what is read from /proc */
    CPU_TIMES = 4,          /* user and system, own and of waited-for children */
    FIELDS_BEFORE_CPU = 11, /* of /proc/PID/stat, between the name and the first of these */
};

static char *read_proc(const char *path)
{
    struct error ignored = ERROR_INIT; /* gone, or not to be seen: not known */
    size_t length;

    return fd_read_file(path, FILE_BYTES, &length, &ignored);
}

static long pid_of(int pidfd)
{
    AUTO_FREE char *path = memory_format("/proc/self/fdinfo/%d", pidfd);
    AUTO_FREE char *text = read_proc(path);
    const char *line = text ? strstr(text, "\nPid:") : NULL;

    return line ? strtol(line + strlen("\nPid:"), NULL, 10) : 0;
}

/* Children are listed in the order they came in: the program is the supervisor's first. */
static long first_child(long pid)
{
    AUTO_FREE char *path = memory_format("/proc/%ld/task/%ld/children", pid, pid);
    AUTO_FREE char *text = read_proc(path);

    return text ? strtol(text, NULL, 10) : 0;
}

static double cpu_seconds(long pid)
{
    AUTO_FREE char *path = memory_format("/proc/%ld/stat", pid);
    AUTO_FREE char *text = read_proc(path);
    char *field = text ? strrchr(text, ')') : NULL; /* the name may hold anything */
    unsigned long long ticks = 0;

    for (int i = 0; field && i <= FIELDS_BEFORE_CPU; i++)
        field = strchr(field + 1, ' ');
    for (int i = 0; field && i < CPU_TIMES; i++)
        ticks += strtoull(field, &field, 10);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static uint64_t peak_memory(long pid)
{
    AUTO_FREE char *path = memory_format("/proc/%ld/status", pid);
    AUTO_FREE char *text = read_proc(path);
    const char *line = text ? strstr(text, "\nVmHWM:") : NULL;

    return line ? strtoull(line + strlen("\nVmHWM:"), NULL, 10) * 1024 : 0;
}

struct usage usage_of_program(int pidfd)
{
    long supervisor = pid_of(pidfd);
    long program = supervisor > 0 ? first_child(supervisor) : 0;

    if (program <= 0)
        return (struct usage){0};
    return (struct usage){
        .cpu_seconds = cpu_seconds(program),
        .peak_memory = peak_memory(program),
    };
}
