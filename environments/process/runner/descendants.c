#include "environments/process/runner/descendants.h"

#include "base/list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEEPEST = 256 }; /* the rest of a longer chain is reached when the upper part is dead */

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

static void descendants_of_thread(pid_t parent, const char *thread,
                                  const struct descendants_visitor *visitor)
{
    char path[300];
    FILE *children;
    int pid;

    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, thread);
    children = fopen(path, "re");
    if (!children)
        return;
    while (fscanf(children, "%d", &pid) == 1)
        visitor->visit(visitor, pid, parent);
    fclose(children);
}

void descendants_visit_children(pid_t parent, const struct descendants_visitor *visitor)
{
    char path[64];
    struct dirent *entry;
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    threads = opendir(path);
    if (!threads)
        return;
    while ((entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            descendants_of_thread(parent, entry->d_name, visitor);
    closedir(threads);
}

/* Visits the descendants of a process on behalf of another visitor. */
struct descendants_walk {
    struct descendants_visitor visitor;
    const struct descendants_visitor *actual; /* borrowed */
    int depth;
};

static void descendants_walk_on(const struct descendants_visitor *visitor, pid_t pid, pid_t parent)
{
    const struct descendants_walk *walk =
        CONTAINER_OF(visitor, const struct descendants_walk, visitor);
    const struct descendants_walk deeper = {*visitor, walk->actual, walk->depth + 1};

    walk->actual->visit(walk->actual, pid, parent);
    if (deeper.depth < DEEPEST)
        descendants_visit_children(pid, &deeper.visitor);
}

void descendants_visit_all(pid_t parent, const struct descendants_visitor *visitor)
{
    const struct descendants_walk walk = {{descendants_walk_on}, visitor, 0};

    descendants_visit_children(parent, &walk.visitor);
}

struct descendants_signal {
    struct descendants_visitor visitor;
    int number;
};

static void signal_visited(const struct descendants_visitor *visitor, pid_t pid, pid_t parent)
{
    signal_child(pid, parent,
                 CONTAINER_OF(visitor, const struct descendants_signal, visitor)->number);
}

void signal_descendants(int number)
{
    const struct descendants_signal sending = {{signal_visited}, number};

    descendants_visit_all(getpid(), &sending.visitor);
}
