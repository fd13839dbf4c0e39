#include "base/memory.h"
#include "environments/engine/init/init.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* With cgroup v2, and v1. A container sees its own cgroup there, and cannot write. */
static const char *const places[] = {
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
};

int memory_watch(void)
{
    int fd = -1;

    for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(places); i++)
        fd = open(places[i], O_RDONLY | O_CLOEXEC);
    return fd;
}

long memory_kills(int fd)
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
