/* Probes that change the process (namespaces, mounts) run in a child. */
#include "server/commands/probe.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/cgroup_tree.h"
#include "environments/process/machine.h"
#include "server/commands/remedy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHILD_SECONDS = 5, /* a child that hangs is ended by its alarm */
};

#define LANDLOCK_CREATE_RULESET_VERSION_FLAG 1

/* Runs TRY in a child and returns its errno, 0 for success. */
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

/* Root needs no user namespace for the others, but in a container, where it has few rights. */
static int new_namespaces(void)
{
    int flags = CLONE_NEWPID | CLONE_NEWNS;

    if (geteuid() == 0 && unshare(flags) == 0)
        return 0;
    return unshare(flags | CLONE_NEWUSER);
}

static int probe_mount_proc(void)
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
    number = errno_of_child(probe_mount_proc);
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
        snprintf(detail, PROBE_DETAIL_BYTES, "%s%s", strerror(number), machine_namespace_hint());
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
             abi >= 6 ? "" : ", 6 or later is needed to block signals");
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

/* The code that limits and kills runs answers for itself. */
static bool try_cgroup(bool (*offers)(const struct cgroup_tree *tree), char *detail)
{
    struct cgroup_tree *tree = cgroup_tree_new();
    enum process_limiter limiter = cgroup_tree_limiter(tree);
    bool found = offers(tree);

    if (found && limiter != LIMITER_RLIMITS)
        snprintf(detail, PROBE_DETAIL_BYTES, "%s", process_limiter_name(limiter));
    else if (!found)
        snprintf(detail, PROBE_DETAIL_BYTES, "no writable hierarchy has it");
    cgroup_tree_free(tree);
    return found;
}

static bool try_memory_cgroup(char *detail)
{
    return try_cgroup(cgroup_tree_limits_memory, detail);
}

static bool try_pids_cgroup(char *detail)
{
    return try_cgroup(cgroup_tree_limits_processes, detail);
}

static bool try_cgroup_kill(char *detail)
{
    bool found = try_cgroup(cgroup_tree_can_kill, detail);

    if (found)
        *detail = '\0'; /* it is v2's, whatever enforces limits */
    return found;
}

static const struct probe probes[] = {
    {"user namespaces", "an unprivileged server cannot make PID namespaces", try_user_namespace,
     remedy_find},
    {"PID namespace", "a run's processes are found and killed one by one", try_pid_namespace,
     remedy_find},
    {"mounting /proc", "runs see the processes of the host in /proc", try_mount_proc, remedy_find},
    {"Landlock", "runs without a PID namespace can signal the server", try_landlock},
    {"seccomp", "no run can be started", try_seccomp},
    {"memory cgroup", "memory is limited for each process, and measured ten times a second",
     try_memory_cgroup, remedy_find_cgroup},
    {"pids cgroup", "the process limit is a resource limit, which does not apply to uid 0",
     try_pids_cgroup, remedy_find_cgroup},
    {"cgroup.kill", "without a PID namespace a tree is killed process by process", try_cgroup_kill},
    {"pidfd", "no run can be started", try_pidfd},
    {"openat2", "paths are walked step by step", try_openat2},
    {"close_range", "descriptors are closed one by one", try_close_range},
};

const struct probe *probe_list(size_t *ret_count)
{
    *ret_count = ARRAY_SIZE(probes);
    return probes;
}
