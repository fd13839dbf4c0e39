#include "environments/process/runner/process_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STAT_BYTES = 512,
    EXITING = 0x4, /* PF_EXITING of the kernel, which no process loses again */
};

struct process_stat process_stat_read(pid_t pid)
{
    struct process_stat stat = {0};
    char text[STAT_BYTES];
    unsigned flags = 0;
    long threads = 0;
    unsigned long memory = 0;
    const char *rest;
    ssize_t length = -1;
    int fd;

    snprintf(text, sizeof text, "/proc/%d/stat", (int)pid);
    fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        length = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
    rest = strrchr(text, ')'); /* the name before it can have any characters */
    if (rest)
        (void)sscanf(rest + 1,
                     " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
                     " %ld %*d %llu %lu",
                     &stat.state, &flags, &threads, &stat.began, &memory);
    stat.is_over = flags & EXITING && threads == 1 && memory == 0;
    return stat;
}
