#include "environments/engine/init/init.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 128 }; /* of /proc/PID/stat: more than comes before the parent */

/* The init of a run was executed from outside: it has no parent here. */
static bool is_init_of_a_run(pid_t pid)
{
    char path[32];
    char text[STAT_BYTES] = "";
    int parent = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    (void)!read(fd, text, sizeof text - 1);
    close(fd);
    return sscanf(text, "%*d (" INIT_NAME ") %*c %d", &parent) == 1 && parent == 0;
}

void runs_interrupt(void)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;

    while (processes && (entry = readdir(processes))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid > 1 && is_init_of_a_run(pid))
            kill(pid, SIGINT);
    }
    if (processes)
        closedir(processes);
}
