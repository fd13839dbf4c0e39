#include "environments/process/runner/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm"

enum {
    POINT_BYTES = 4096,
    FIRST_BYTES = 4096, /* until the limit of the program is known */
};

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

/* Decodes POINT in place: a blank is written \040 (proc(5)). */
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

/* If we cannot reach POINT, it is below another mount, or closed to our user and so to the program.
 */
static int make_read_only(const char *point)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};

    if (mount_setattr(AT_FDCWD, point, 0, &attributes, sizeof attributes) == 0)
        return 0;
    return errno == EINVAL || errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -1;
}

/* LINE is a line of mountinfo: ID PARENT DEVICE ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS. */
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

bool mounts_can_seal(void)
{
    struct mount_attr nothing = {0};

    return mount_setattr(AT_FDCWD, "/", 0, &nothing, sizeof nothing) == 0;
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

/* 1, or 0 on a machine without it; -1 with errno set when this is unknown. */
static int find_shared_memory(void)
{
    struct stat status;

    if (stat(SHARED_MEMORY, &status) < 0)
        return errno == ENOENT ? 0 : -1;
    return S_ISDIR(status.st_mode) ? 1 : 0;
}

static int mount_shared_memory(uint64_t bytes)
{
    char options[96];

    snprintf(options, sizeof options, "mode=1777,size=%llu,nr_inodes=16384",
             (unsigned long long)bytes);
    return mount("shm", SHARED_MEMORY, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options);
}

int mounts_make_private(bool has_root)
{
    int found = find_shared_memory();

    if (found < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return -1;
    return found && !has_root ? mount_shared_memory(FIRST_BYTES) : 0;
}

/* Makes DIRECTORY and the directories between it and the mount. */
static int mounts_make_directories(const char *directory)
{
    char path[POINT_BYTES];
    const char *end = directory + strlen(SHARED_MEMORY "/");

    do {
        end += strcspn(end, "/");
        if (snprintf(path, sizeof path, "%.*s", (int)(end - directory), directory) >=
            (int)sizeof path)
            return -1;
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return -1;
    } while (*end++);
    return 0;
}

/* The server keeps DIRECTORY in the machine's shared memory, of which only DIRECTORY is shown. */
static int show_directory(const char *directory, uint64_t bytes)
{
    int tree;
    int ret;

    if (umount2(SHARED_MEMORY, MNT_DETACH) < 0)
        return -1;
    tree = open_tree(AT_FDCWD, directory, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0)
        return -1;
    ret = mount_shared_memory(bytes) < 0 || mounts_make_directories(directory) < 0 ||
                  move_mount(tree, "", AT_FDCWD, directory, MOVE_MOUNT_F_EMPTY_PATH) < 0
              ? -1
              : 0;
    close(tree);
    return ret;
}

int mounts_set_shared_memory(uint64_t bytes, const char *directory)
{
    char options[64];
    int found = find_shared_memory();

    if (found <= 0)
        return found;
    if (strncmp(directory, SHARED_MEMORY "/", strlen(SHARED_MEMORY "/")) == 0)
        return show_directory(directory, bytes);
    snprintf(options, sizeof options, "size=%llu", (unsigned long long)bytes);
    return mount(NULL, SHARED_MEMORY, NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV | MS_NOEXEC, options);
}
