#include "base/starter/starter.h"
#include "environments/process/landlock.h"
#include "environments/process/runner/runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN_FILES = 1024 };

/* The child writes why it failed into the pipe FD, which closes on exec. */
static _Noreturn void cold_start_fail(int fd, const char *text, const char *subject)
{
    char message[256];
    int length = snprintf(message, sizeof message, "%s%s: %s", text, subject, strerror(errno));

    if (length >= (int)sizeof message)
        length = (int)sizeof message - 1;
    (void)!write(fd, message, (size_t)length); /* without a supervisor nobody would read it */
    _exit(127);
}

static void cold_start_need(int fd, int result, const char *text, const char *subject)
{
    if (result < 0)
        cold_start_fail(fd, text, subject);
}

static void set_limit(int fd, __rlimit_resource_t resource, rlim_t most)
{
    struct rlimit limit;

    cold_start_need(fd, getrlimit(resource, &limit), "cannot read a resource limit", "");
    if (limit.rlim_max == RLIM_INFINITY || most < limit.rlim_max)
        limit.rlim_max = most;
    limit.rlim_cur = limit.rlim_max;
    cold_start_need(fd, setrlimit(resource, &limit), "cannot set a resource limit", "");
}

/* Tasks of our uid that exist already: without a user namespace of its own the process limit
 * counts them all. */
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

static void set_limits(int fd, const struct control_run *run, unsigned layers)
{
    set_limit(fd, RLIMIT_CORE, 0);
    set_limit(fd, RLIMIT_NOFILE, OPEN_FILES);
    set_limit(fd, RLIMIT_MSGQUEUE, 0);
    if (run->file_bytes > 0)
        set_limit(fd, RLIMIT_FSIZE, run->file_bytes);
    if (run->processes > 0)
        set_limit(fd, RLIMIT_NPROC,
                  run->processes + (layers & LAYER_PID_NAMESPACE ? 1 : count_tasks()));
    if (run->data_bytes > 0) /* last: a sanitizer needs more */
        set_limit(fd, RLIMIT_DATA, run->data_bytes);
}

/* Even uid 0 gets no capability back by exec when the bounding set is empty. Who may not empty it
 * (another user, or root in a container with few rights) gets none back either, because of
 * no_new_privs. */
static void empty_bounding_set(int fd)
{
    for (int capability = 0; capability <= 63; capability++)
        if (prctl(PR_CAPBSET_DROP, capability) < 0 && errno != EINVAL &&
            (errno != EPERM || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1))
            cold_start_fail(fd, "cannot drop a capability", "");
}

static void drop_capabilities(int fd)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    struct __user_cap_data_struct left[_LINUX_CAPABILITY_U32S_3];

    empty_bounding_set(fd);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
        syscall(SYS_capset, &header, none) < 0 || syscall(SYS_capget, &header, left) < 0)
        cold_start_fail(fd, "cannot drop capabilities", "");
    errno = EPERM;
    if (memcmp(left, none, sizeof none) != 0)
        cold_start_fail(fd, "capabilities are left", "");
}

static void enter_cgroups_late(int fd, char *const *directories)
{
    for (; *directories; directories++) {
        char path[4096];
        int procs;

        snprintf(path, sizeof path, "%s/cgroup.procs", *directories);
        procs = open(path, O_WRONLY | O_CLOEXEC);
        if (procs < 0 || write(procs, "0", 1) < 0)
            cold_start_fail(fd, "cannot enter the cgroup ", *directories);
        close(procs);
    }
}

/* Cgroups can be entered no more. */
static void seal_late(int fd, const struct runner_preparation *preparation)
{
    if (preparation->has_mounts)
        cold_start_need(fd, mounts_seal_kernel(), "cannot make /proc and /sys read-only", "");
}

/* Without a PID namespace the program could reach its supervisor and the server. */
static void protect_others(int fd, unsigned layers)
{
    if (layers & LAYER_LANDLOCK)
        cold_start_need(fd, landlock_scope_signals(), "cannot scope signals", "");
}

static void set_shared_memory(int fd, const struct program *program,
                              const struct runner_preparation *preparation)
{
    if (preparation->has_mounts && !(preparation->layers & LAYER_ROOT) &&
        mounts_set_shared_memory(program->run.shared_bytes, program->directory) < 0)
        cold_start_fail(fd, "cannot make a private /dev/shm", "");
}

static void show_paths(int fd, const struct program *program,
                       const struct runner_preparation *preparation)
{
    const char *subject;

    if (preparation->layers & LAYER_ROOT && root_show(preparation, program, &subject) < 0)
        cold_start_fail(fd, "cannot show in the sandbox: ", subject);
}

/* The proxy has one listener, so it is sent when this tree is not refused any more. */
static void cold_start_let_out(int fd, const struct program *program)
{
    if (program->outlet >= 0)
        cold_start_need(fd, network_let_out(program->outlet), "cannot reach the proxy of the run",
                        "");
}

static _Noreturn void cold_start_execute(const struct program *program,
                                         const struct runner_preparation *preparation, int fd)
{
    char **variables = program->variables;
    sigset_t none;

    setsid();
    if (!(preparation->layers & LAYER_PID_NAMESPACE)) {
        enter_cgroups_late(fd, preparation->cgroups);
        seal_late(fd, preparation);
    }
    set_shared_memory(fd, program, preparation);
    show_paths(fd, program, preparation);
    if (program->script && script_lay_over(preparation, program) < 0)
        cold_start_fail(fd, "cannot lay the script over ", program->script);
    if (program->run.has_input && dup2(program->code, STDIN_FILENO) < 0)
        cold_start_fail(fd, "cannot hand over the input", "");
    if (chdir(program->directory) < 0)
        cold_start_fail(fd, "cannot enter the working directory ", program->directory);
    if (program->run.has_starter)
        variables = starter_lend(preparation->starter, variables);
    if (program->gate >= 0)
        variables = starter_lend_gate(program->gate, variables);
    if (preparation->layers & LAYER_FILES)
        cold_start_need(fd, files_restrict(preparation, program), "cannot make Landlock rules", "");
    cold_start_let_out(fd, program);
    cold_start_need(fd, identity_join(preparation, program), "cannot use devices", "");
    cold_start_need(fd, identity_take(preparation), "cannot take a uid of its own", "");
    drop_capabilities(fd);
    if (!(preparation->layers & LAYER_PID_NAMESPACE))
        protect_others(fd, preparation->layers);
    set_limits(fd, &program->run, preparation->layers);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(program->arguments[0], program->arguments, variables);
    cold_start_fail(fd, "cannot execute ", program->arguments[0]);
}

static pid_t cold_start_fork(const struct program *program,
                             const struct runner_preparation *preparation, int *ret_fd)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        cold_start_execute(program, preparation, ends[1]);
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        *ret_fd = ends[0];
    return pid;
}

const struct program_start cold_start = {.start = cold_start_fork};
