#include "environments/engine/init/usage.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number behind KEY, with which the file at PATH begins. */
static uint64_t usage_number(const char *path, const char *key)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    (void)!read(fd, text, sizeof text - 1);
    close(fd);
    return strncmp(text, key, strlen(key)) == 0 ? strtoull(text + strlen(key), NULL, 10) : 0;
}

double usage_cpu(void)
{
    const uint64_t microseconds = usage_number("/sys/fs/cgroup/cpu.stat", "usage_usec ");

    if (microseconds > 0)
        return (double)microseconds / 1e6;
    return (double)usage_number("/sys/fs/cgroup/cpuacct/cpuacct.usage", "") / 1e9;
}

uint64_t usage_peak(void)
{
    const uint64_t peak = usage_number("/sys/fs/cgroup/memory.peak", "");

    return peak > 0 ? peak : usage_number("/sys/fs/cgroup/memory/memory.max_usage_in_bytes", "");
}

/* With cgroup v2, and v1. */
static const char *const usage_kill_files[] = {
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
};

int usage_watch_kills(void)
{
    int fd = -1;

    for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(usage_kill_files); i++)
        fd = open(usage_kill_files[i], O_RDONLY | O_CLOEXEC);
    return fd;
}

long usage_count_kills(int fd)
{
    char text[1024];
    ssize_t length = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    const char *line;
    long count = 0;

    text[length > 0 ? length : 0] = '\0';
    line = strstr(text, "\noom_kill ");
    if (line)
        (void)sscanf(line, "\noom_kill %ld", &count);
    return count;
}
