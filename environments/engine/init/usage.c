#include "environments/engine/init/usage.h"

#include <fcntl.h>
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
