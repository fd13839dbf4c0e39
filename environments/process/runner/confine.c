/* Takes from a program, before it begins, the capabilities of root and all resources above its
 * limits. */
#include "environments/process/runner/confine.h"

#include "environments/process/control.h"
#include "environments/process/policy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN_FILES = 1024 };

_Noreturn void confine_fail(int fd, const char *text, const char *subject)
{
    char message[256];
    int length = snprintf(message, sizeof message, "%s%s: %s", text, subject, strerror(errno));

    if (length >= (int)sizeof message)
        length = (int)sizeof message - 1;
    (void)!write(fd, message, (size_t)length); /* without a supervisor nobody would read it */
    _exit(127);
}

pid_t confine_fork(const struct program *program, const struct runner_preparation *preparation,
                   confine_become *become, int *ret_fd)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        become(program, preparation, ends[1]);
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        *ret_fd = ends[0];
    return pid;
}

void confine_need(int fd, int result, const char *text, const char *subject)
{
    if (result < 0)
        confine_fail(fd, text, subject);
}

static void set_limit(int fd, __rlimit_resource_t resource, rlim_t most)
{
    struct rlimit limit;

    confine_need(fd, getrlimit(resource, &limit), "cannot read a resource limit", "");
    if (limit.rlim_max == RLIM_INFINITY || most < limit.rlim_max)
        limit.rlim_max = most;
    limit.rlim_cur = limit.rlim_max;
    confine_need(fd, setrlimit(resource, &limit), "cannot set a resource limit", "");
}

/* Counts the tasks of our uid: without a user namespace of its own the process limit counts them
 * all. */
static rlim_t count_tasks(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    rlim_t count = 0;

    while (proc && (entry = readdir(proc))) {
        struct stat status;
        char path[300];

        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
        if (stat(path, &status) == 0 && status.st_uid == getuid() && status.st_nlink > 2)
            count += status.st_nlink - 2;
    }
    if (proc)
        closedir(proc);
    return count;
}

void confine_zygote_limits(int fd, const struct process_limits *limits)
{
    set_limit(fd, RLIMIT_CORE, 0);
    set_limit(fd, RLIMIT_NOFILE, OPEN_FILES);
    set_limit(fd, RLIMIT_MSGQUEUE, 0);
    if (limits->file_size > 0)
        set_limit(fd, RLIMIT_FSIZE, limits->file_size);
    if (limits->memory > 0) /* last: a sanitizer needs more */
        set_limit(fd, RLIMIT_DATA, limits->memory);
}

/* The kernel takes a sum above 19 for 19. */
static void confine_niceness(int fd, unsigned nice)
{
    const int own = getpriority(PRIO_PROCESS, 0);

    confine_need(fd, setpriority(PRIO_PROCESS, 0, own + (int)nice), "cannot set the niceness", "");
}

void confine_limits(int fd, const struct process_limits *limits, unsigned layers)
{
    if (limits->nice > 0)
        confine_niceness(fd, limits->nice);
    if (limits->processes > 0)
        set_limit(fd, RLIMIT_NPROC,
                  limits->processes + (layers & LAYER_PID_NAMESPACE ? 1 : count_tasks()));
    confine_zygote_limits(fd, limits);
}

static bool is_kept(int capability, uint32_t kept)
{
    return capability < 32 && kept & 1U << capability;
}

/* Even uid 0 gets no capability back by exec when the bounding set is empty. A process that may not
 * empty the set (of another user, or of root in a container with few rights) gets none back either,
 * because of no_new_privs. */
static void empty_bounding_set(int fd, uint32_t kept)
{
    for (int capability = 0; capability <= 63; capability++) {
        if (is_kept(capability, kept) || prctl(PR_CAPBSET_DROP, capability) == 0)
            continue;
        if (errno == EINVAL)
            return; /* there are no more */
        if (errno != EPERM || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
            confine_fail(fd, "cannot drop a capability", "");
    }
}

/* Root keeps its capabilities anyway. If another user cannot keep them, the zygote has less for its
 * workers, which is no error. */
static void keep_over_exec(uint32_t kept)
{
    for (int capability = 0; capability < 32; capability++)
        if (is_kept(capability, kept))
            (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
}

void confine_capabilities(int fd, uint32_t kept)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct wanted[_LINUX_CAPABILITY_U32S_3] = {
        {.effective = kept, .permitted = kept, .inheritable = kept}};
    struct __user_cap_data_struct left[_LINUX_CAPABILITY_U32S_3];

    empty_bounding_set(fd, kept);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
        syscall(SYS_capset, &header, wanted) < 0 || syscall(SYS_capget, &header, left) < 0)
        confine_fail(fd, "cannot drop capabilities", "");
    errno = EPERM;
    if (memcmp(left, wanted, sizeof wanted) != 0)
        confine_fail(fd, "capabilities are left", "");
    keep_over_exec(kept);
}
