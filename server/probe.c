/* Whatever changes the process that tries it (namespaces, mounts) is tried in a child. */
#include "server/probe.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "environments/process/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHILD_SECONDS = 5, /* a child that hangs is ended by its alarm */
    FILE_BYTES = 64 * 1024,
};

#define LANDLOCK_CREATE_RULESET_VERSION_FLAG 1

/* The first line of the file at PATH, or NULL. Owned by the caller. */
static char *read_line(const char *path)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    char *text = fd_read_file(path, FILE_BYTES, &length, &ignored);

    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Runs TRY in a child; its errno comes back, 0 for success. */
static int errno_of_child(int (*try)(void))
{
    int status;
    pid_t pid = fork();

    if (pid < 0)
        return errno;
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        _exit(try() < 0 ? errno : 0);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : ETIMEDOUT;
}

static int new_user_namespace(void)
{
    return unshare(CLONE_NEWUSER);
}

/* Root needs no user namespace for the others. */
static int new_namespaces(void)
{
    int flags = CLONE_NEWPID | CLONE_NEWNS;

    return unshare(geteuid() == 0 ? flags : flags | CLONE_NEWUSER);
}

static int mount_proc(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

/* The first child of a new PID namespace is in it, its maker is not. */
static int mount_proc_in_namespace(void)
{
    int number;

    if (new_namespaces() < 0)
        return -1;
    number = errno_of_child(mount_proc);
    errno = number;
    return number ? -1 : 0;
}

static bool report_errno(int number, char *detail)
{
    if (number)
        snprintf(detail, PROBE_DETAIL_BYTES, "%s", strerror(number));
    return number == 0;
}

static bool try_user_namespace(char *detail)
{
    int number = errno_of_child(new_user_namespace);

    if (number)
        snprintf(detail, PROBE_DETAIL_BYTES, "%s%s", strerror(number),
                 process_host_namespace_hint());
    return number == 0;
}

static bool try_pid_namespace(char *detail)
{
    return report_errno(errno_of_child(new_namespaces), detail);
}

static bool try_mount_proc(char *detail)
{
    return report_errno(errno_of_child(mount_proc_in_namespace), detail);
}

static bool try_landlock(char *detail)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION_FLAG);

    if (abi < 0)
        return report_errno(errno, detail);
    snprintf(detail, PROBE_DETAIL_BYTES, "ABI %ld%s", abi,
             abi >= 6 ? "" : ", 6 or later is needed to hold signals back");
    return true;
}

static bool try_seccomp(char *detail)
{
    unsigned action = SECCOMP_RET_ERRNO;

    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
        return report_errno(errno, detail);
    return true;
}

static bool try_pidfd(char *detail)
{
    AUTO_CLOSE int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    return report_errno(fd < 0 ? errno : 0, detail);
}

static bool try_openat2(char *detail)
{
    struct {
        unsigned long long flags;
        unsigned long long mode;
        unsigned long long resolve;
    } how = {.flags = O_PATH | O_CLOEXEC};
    AUTO_CLOSE int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);

    return report_errno(fd < 0 ? errno : 0, detail);
}

static bool try_close_range(char *detail)
{
    return report_errno(syscall(SYS_close_range, ~0u, ~0u, 0) < 0 ? errno : 0, detail);
}

/* Where the hierarchy of CONTROLLER ("" for version 2) is mounted, or NULL. Owned by the caller. */
static char *cgroup_mount(const char *controller)
{
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    char *directory = NULL;
    struct mntent *entry;

    while (mounts && !directory && (entry = getmntent(mounts)) != NULL) {
        bool is_it = *controller ? strcmp(entry->mnt_type, "cgroup") == 0 &&
                                       hasmntopt(entry, controller) != NULL
                                 : strcmp(entry->mnt_type, "cgroup2") == 0;

        if (is_it)
            directory = memory_copy_string(entry->mnt_dir);
    }
    if (mounts)
        endmntent(mounts);
    return directory;
}

/* Where this process is in the hierarchy of CONTROLLER: "/system.slice/x", or NULL. A line of the
 * file is NUMBER:CONTROLLER,...:PATH. Owned by the caller. */
static char *cgroup_path(const char *controller)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text = fd_read_file("/proc/self/cgroup", FILE_BYTES, &length, &ignored);
    char *rest = text;

    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *names = strchr(line, ':');
        char *path = names ? strchr(++names, ':') : NULL;

        if (!path)
            continue;
        *path++ = '\0';
        for (char *name; (name = strsep(&names, ","));)
            if (strcmp(name, controller) == 0)
                return memory_copy_string(path);
    }
    return NULL;
}

/* The directory of this process in the hierarchy of CONTROLLER, or NULL. Owned by the caller. */
static char *own_cgroup(const char *controller)
{
    AUTO_FREE char *mounted = cgroup_mount(controller);
    AUTO_FREE char *path = cgroup_path(controller);

    return mounted && path ? memory_format("%s%s", mounted, path) : NULL;
}

static bool try_cgroup_v2(char *detail)
{
    AUTO_FREE char *directory = own_cgroup("");
    AUTO_FREE char *file = memory_format("%s/cgroup.controllers", directory ? directory : "");
    AUTO_FREE char *controllers = read_line(file);

    if (!controllers) {
        snprintf(detail, PROBE_DETAIL_BYTES, "not mounted");
        return false;
    }
    if (access(directory, W_OK) < 0) {
        snprintf(detail, PROBE_DETAIL_BYTES, "%.150s is not writable", directory);
        return false;
    }
    snprintf(detail, PROBE_DETAIL_BYTES, "controllers: %.150s",
             *controllers ? controllers : "none");
    return strstr(controllers, "memory") && strstr(controllers, "pids");
}

static bool try_cgroup_v1(char *detail)
{
    static const char *const controllers[] = {"memory", "pids"};

    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++) {
        AUTO_FREE char *directory = own_cgroup(controllers[i]);

        if (directory && access(directory, W_OK) == 0)
            continue;
        snprintf(detail, PROBE_DETAIL_BYTES, "%s: %s", controllers[i],
                 directory ? "not writable" : "no such hierarchy");
        return false;
    }
    snprintf(detail, PROBE_DETAIL_BYTES, "controllers: memory pids");
    return true;
}

static bool kernel_is_at_least(int major, int minor)
{
    struct utsname names;
    int found_major = 0;
    int found_minor = 0;

    if (uname(&names) < 0 || sscanf(names.release, "%d.%d", &found_major, &found_minor) != 2)
        return false;
    return found_major > major || (found_major == major && found_minor >= minor);
}

/* The root group has no such file, but groups below it have. */
static bool try_cgroup_kill(char *detail)
{
    AUTO_FREE char *directory = own_cgroup("");
    AUTO_FREE char *path = cgroup_path("");
    AUTO_FREE char *file = memory_format("%s/cgroup.kill", directory ? directory : "");

    if (directory && strcmp(path, "/") == 0)
        return kernel_is_at_least(5, 14);
    if (directory)
        return report_errno(access(file, W_OK) < 0 ? errno : 0, detail);
    snprintf(detail, PROBE_DETAIL_BYTES, "needs cgroup v2");
    return false;
}

static const struct probe probes[] = {
    {"user namespaces", "an unprivileged server cannot make PID namespaces", try_user_namespace},
    {"PID namespace", "a run's processes are found and killed one by one", try_pid_namespace},
    {"mounting /proc", "runs see the processes of the host in /proc", try_mount_proc},
    {"Landlock", "runs without a PID namespace can signal the server", try_landlock},
    {"seccomp", "system calls cannot be filtered", try_seccomp},
    {"cgroup v2", "see cgroup v1", try_cgroup_v2},
    {"cgroup v1", "without v2 too, limits hold for each process alone", try_cgroup_v1},
    {"cgroup.kill", "cgroups are killed process by process", try_cgroup_kill},
    {"pidfd", "no run can be started", try_pidfd},
    {"openat2", "paths are walked step by step", try_openat2},
    {"close_range", "descriptors are closed one by one", try_close_range},
};

const struct probe *probe_list(size_t *ret_count)
{
    *ret_count = sizeof probes / sizeof *probes;
    return probes;
}
