#include "environments/process/runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum { POINT_BYTES = 4096 };

/* File systems whose files are the kernel itself: uid 0 owns them, with or without capabilities. */
static const char *const kernel_types[] = {
    "binfmt_misc", "bpf",     "cgroup",    "cgroup2", "configfs", "debugfs",
    "efivarfs",    "fusectl", "mqueue",    "proc",    "pstore",   "resctrl",
    "securityfs",  "smackfs", "selinuxfs", "sysfs",   "tracefs",
};

static bool is_kernel_type(const char *type)
{
    for (size_t i = 0; i < sizeof kernel_types / sizeof *kernel_types; i++)
        if (strcmp(type, kernel_types[i]) == 0)
            return true;
    return false;
}

static bool is_octal(const char *text)
{
    return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' && text[2] >= '0' &&
           text[2] <= '7';
}

/* In place: a blank is written \040 (proc(5)). */
static void decode_point(char *point)
{
    char *to = point;

    for (const char *from = point; *from; to++) {
        if (*from == '\\' && is_octal(from + 1)) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* What we cannot reach is below another mount, or closed to our user, and so to the program. */
static int make_read_only(const char *point)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};

    if (mount_setattr(AT_FDCWD, point, 0, &attributes, sizeof attributes) == 0)
        return 0;
    return errno == EINVAL || errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -1;
}

/* LINE is one of mountinfo: ID PARENT DEVICE ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS. */
static int seal_mount(const char *line)
{
    const char *tail = strstr(line, " - ");
    char point[POINT_BYTES];
    char type[32];

    if (!tail || sscanf(tail, " - %31s", type) != 1 || !is_kernel_type(type) ||
        sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1)
        return 0;
    decode_point(point);
    return make_read_only(point);
}

int mounts_seal_kernel(void)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t size = 0;
    int ret = mounts ? 0 : -1;

    while (ret == 0 && getline(&line, &size, mounts) > 0)
        ret = seal_mount(line);
    free(line);
    if (mounts)
        fclose(mounts);
    return ret;
}

static bool is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int mounts_make_private(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return -1;
    if (!is_directory("/dev/shm"))
        return 0;
    return mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 "mode=1777,size=4k,nr_inodes=16384");
}

int mounts_bound_shared_memory(uint64_t bytes)
{
    char options[64];

    if (!is_directory("/dev/shm"))
        return 0;
    snprintf(options, sizeof options, "size=%llu", (unsigned long long)bytes);
    return mount(NULL, "/dev/shm", NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV | MS_NOEXEC, options);
}
