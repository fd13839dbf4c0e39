/* Measures the usage of a tree while it goes on: by its cgroup, else by /proc. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "environments/process/tree_private.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    USAGE_FILE_BYTES = 64 << 10,
    USAGE_PROCESSES = 4096, /* further processes are not looked at */
};

/* Processes that were found, the first ones looked at already. */
struct usage_walk {
    pid_t *pids; /* owned */
    size_t count;
    uint64_t ticks;     /* of the processor, with ticks of children that were waited for */
    uint64_t peak_kilo; /* the largest resident set */
};

/* The text of a file of /proc; "" when the process has gone. Owned by the caller. */
static char *usage_read(pid_t pid, const char *name)
{
    AUTO_FREE char *path = memory_format("/proc/%d/%s", (int)pid, name);
    struct error ignored = ERROR_INIT;
    size_t length;
    char *text = fd_read_file(path, USAGE_FILE_BYTES, &length, &ignored);

    return text ? text : memory_copy_string("");
}

/* Behind the name of the program, which may be anything, come ten fields and the four times. */
static void usage_add_times(struct usage_walk *walk, pid_t pid)
{
    AUTO_FREE char *text = usage_read(pid, "stat");
    const char *behind = strrchr(text, ')');
    unsigned long user;
    unsigned long system;
    long of_children;
    long system_of_children;

    if (behind && sscanf(behind, ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu %ld %ld",
                         &user, &system, &of_children, &system_of_children) == 4)
        walk->ticks += user + system + (uint64_t)of_children + (uint64_t)system_of_children;
}

static void usage_add_memory(struct usage_walk *walk, pid_t pid)
{
    AUTO_FREE char *text = usage_read(pid, "status");
    const char *line = strstr(text, "\nVmHWM:");
    unsigned long kilo;

    if (line && sscanf(line, "\nVmHWM: %lu", &kilo) == 1 && kilo > walk->peak_kilo)
        walk->peak_kilo = kilo;
}

static void usage_add_children(struct usage_walk *walk, pid_t pid, const char *thread)
{
    AUTO_FREE char *name = memory_format("task/%s/children", thread);
    AUTO_FREE char *text = usage_read(pid, name);
    int taken;
    int child;

    for (const char *at = text; walk->count < USAGE_PROCESSES; at += taken) {
        if (sscanf(at, "%d %n", &child, &taken) != 1)
            return;
        walk->pids[walk->count++] = child;
    }
}

static void usage_look_at(struct usage_walk *walk, pid_t pid)
{
    AUTO_FREE char *path = memory_format("/proc/%d/task", (int)pid);
    const struct dirent *entry;
    DIR *threads = opendir(path);

    usage_add_times(walk, pid);
    usage_add_memory(walk, pid);
    while (threads && (entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            usage_add_children(walk, pid, entry->d_name);
    if (threads)
        closedir(threads);
}

/* Looks at the supervisor and its descendants. It is not reaped, so its pid is its own; orphans
 * become its children. */
static void tree_look_in_proc(const struct tree *tree, struct process_usage *ret)
{
    struct usage_walk walk = {.pids = memory_new(USAGE_PROCESSES, sizeof *walk.pids)};

    walk.pids[walk.count++] = tree->supervisor_pid;
    for (size_t i = 0; i < walk.count; i++)
        usage_look_at(&walk, walk.pids[i]);
    ret->cpu_seconds = (double)walk.ticks / (double)sysconf(_SC_CLK_TCK);
    ret->peak_memory = walk.peak_kilo * 1024;
    free(walk.pids);
}

struct process_usage process_measure(const struct process *process)
{
    struct process_usage usage = {0};
    const struct tree *tree = process->tree;

    if (!tree)
        return usage;
    usage.ahead_seconds = tree->end.ahead_seconds;
    if (tree->leaf) {
        usage.cpu_seconds = cgroup_leaf_cpu(tree->leaf);
        usage.peak_memory = cgroup_leaf_peak(tree->leaf);
        cgroup_leaf_renew_peak(tree->leaf);
    }
    if ((usage.cpu_seconds <= 0 || usage.peak_memory == 0) && tree->supervisor_pid > 0 &&
        tree->supervisor >= 0) {
        struct process_usage seen;

        tree_look_in_proc(tree, &seen);
        if (usage.cpu_seconds <= 0)
            usage.cpu_seconds = seen.cpu_seconds;
        if (usage.peak_memory == 0)
            usage.peak_memory = seen.peak_memory;
    }
    return usage;
}
