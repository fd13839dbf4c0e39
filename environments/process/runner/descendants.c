#include "environments/process/runner/runner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEEPEST = 256 }; /* of a longer chain, the rest is reached when the upper part is dead */

/* From the line PPid of /proc/PID/status; 0 when PID is gone. */
static pid_t parent_of(pid_t pid)
{
    char line[256];
    FILE *file;
    int parent = 0;

    snprintf(line, sizeof line, "/proc/%d/status", (int)pid);
    file = fopen(line, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "PPid: %d", &parent) != 1)
        ;
    if (file)
        fclose(file);
    return parent;
}

/* PID may have ended, and another process may have its number (rule L5). The descriptor pins the
 * process; then its parent is checked again. */
static void signal_child(pid_t pid, pid_t parent, int number)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return;
    if (parent_of(pid) == parent)
        syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
    close(fd);
}

static void signal_below(pid_t parent, int number, int depth);

static void signal_children_of_thread(pid_t parent, const char *thread, int number, int depth)
{
    char path[300];
    FILE *children;
    int pid;

    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, thread);
    children = fopen(path, "re");
    if (!children)
        return;
    while (fscanf(children, "%d", &pid) == 1) {
        signal_child(pid, parent, number);
        signal_below(pid, number, depth + 1);
    }
    fclose(children);
}

static void signal_below(pid_t parent, int number, int depth)
{
    char path[64];
    struct dirent *entry;
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    threads = depth < DEEPEST ? opendir(path) : NULL;
    if (!threads)
        return;
    while ((entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            signal_children_of_thread(parent, entry->d_name, number, depth);
    closedir(threads);
}

void signal_descendants(int number)
{
    signal_below(getpid(), number, 0);
}
