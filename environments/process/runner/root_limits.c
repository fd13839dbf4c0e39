/* Programs that size themselves (DuckDB, thread pools, psutil) look for the control group of a
 * container at /sys/fs/cgroup, or read /proc/meminfo. In a sandbox both have the limits of the
 * tree: a program that believes in the memory of the machine is killed.
 *
 * The JVM looks where the table of mounts has a cgroup. The table still has those of the machine,
 * below its covered root, so a link leads from there to ours.
 *
 * These files are mere texts in the cover of the machine's root, so they limit nothing, and take
 * nothing per worker. The file for /proc/meminfo lies beside them, because each worker has its own
 * /proc. The zygote keeps its /proc uncovered, since the kernel makes no further /proc beside one
 * that is partly covered. */
#include "environments/process/runner/root_limits.h"

#include "environments/process/control.h"
#include "environments/process/runner/root_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define LIMITS_MEMORY_FILE   "/sys/fs/meminfo"
#define LIMITS_MACHINE_PLACE "/sys" ROOT_LIMITS_GROUP /* of version 2, in the table of mounts */

enum { LIMITS_NUMBER_BYTES = 32, LIMITS_MEMORY_BYTES = 1024 };

/* 0: there is no limit. */
static int limits_write_number(const char *path, uint64_t number)
{
    char text[LIMITS_NUMBER_BYTES] = "max\n";

    if (number > 0)
        snprintf(text, sizeof text, "%llu\n", (unsigned long long)number);
    return root_write(path, text);
}

static int limits_write_processors(uint64_t quota)
{
    char text[LIMITS_NUMBER_BYTES];

    snprintf(text, sizeof text, "%llu %d\n", (unsigned long long)quota, CONTROL_CPU_PERIOD);
    return root_write(ROOT_LIMITS_GROUP "/cpu.max", text);
}

static int limits_write_group(const struct control_run *run)
{
    return root_make_way(ROOT_LIMITS_GROUP "/cgroup.controllers") < 0 ||
                   root_write(ROOT_LIMITS_GROUP "/cgroup.controllers", "cpu memory pids\n") < 0 ||
                   limits_write_processors(run->cpu_quota) < 0 ||
                   limits_write_number(ROOT_LIMITS_GROUP "/memory.max", run->shared_bytes) < 0 ||
                   limits_write_number(ROOT_LIMITS_GROUP "/pids.max", run->most_processes) < 0
               ? -1
               : 0;
}

static bool limits_are_below_machine(uint64_t bytes)
{
    struct sysinfo machine;

    return bytes > 0 && sysinfo(&machine) == 0 &&
           bytes < (uint64_t)machine.totalram * machine.mem_unit;
}

/* The lines that psutil and free(1) need. The kernel counts memory for the machine alone, so all is
 * free. */
static int limits_write_memory(uint64_t bytes)
{
    static const char *const others[] = {"Buffers",  "Cached",       "SwapCached", "Active",
                                         "Inactive", "SwapTotal",    "SwapFree",   "Shmem",
                                         "Slab",     "SReclaimable", "SUnreclaim"};
    const unsigned long long kilobytes = bytes / 1024;
    char text[LIMITS_MEMORY_BYTES];
    int length;

    if (!limits_are_below_machine(bytes))
        return 0;
    length = snprintf(text, sizeof text,
                      "MemTotal:       %8llu kB\nMemFree:        %8llu kB\n"
                      "MemAvailable:   %8llu kB\n",
                      kilobytes, kilobytes, kilobytes);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s:%*d kB\n", others[i],
                           (int)(23 - strlen(others[i])), 0);
    return root_write(LIMITS_MEMORY_FILE, text);
}

static int limits_link_group(void)
{
    return root_make_way(LIMITS_MACHINE_PLACE) < 0
               ? -1
               : symlink(ROOT_LIMITS_GROUP, LIMITS_MACHINE_PLACE);
}

int root_limits_write(const struct control_run *run)
{
    return limits_write_group(run) < 0 || limits_link_group() < 0
               ? -1
               : limits_write_memory(run->shared_bytes);
}

int root_limits_lay_over(void)
{
    int tree = open_tree(AT_FDCWD, LIMITS_MEMORY_FILE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    int ret;

    if (tree < 0)
        return errno == ENOENT ? 0 : -1;
    ret = root_attach(tree, "/proc/meminfo");
    close(tree);
    return ret;
}
