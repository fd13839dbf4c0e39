#include "environments/process/runner/cold_start.h"

#include "base/starter/starter.h"
#include "environments/process/filter/filter.h"
#include "environments/process/landlock.h"
#include "environments/process/runner/confine.h"
#include "environments/process/runner/files.h"
#include "environments/process/runner/identity.h"
#include "environments/process/runner/mounts.h"
#include "environments/process/runner/network.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/root.h"
#include "environments/process/runner/runner.h"
#include "environments/process/runner/script.h"
#include "environments/process/runner/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void enter_cgroups_late(int fd, char *const *directories)
{
    for (; *directories; directories++) {
        char path[4096];
        int procs;

        snprintf(path, sizeof path, "%s/cgroup.procs", *directories);
        procs = open(path, O_WRONLY | O_CLOEXEC);
        if (procs < 0 || write(procs, "0", 1) < 0)
            confine_fail(fd, "cannot enter the cgroup ", *directories);
        close(procs);
    }
}

/* From now on no cgroup can be entered. */
static void seal_late(int fd, const struct runner_preparation *preparation)
{
    if (preparation->has_mounts)
        confine_need(fd, mounts_seal_kernel(), "cannot make /proc and /sys read-only", "");
}

/* Without a PID namespace the program could reach its supervisor and the server. */
static void protect_others(int fd, unsigned layers)
{
    if (layers & LAYER_LANDLOCK)
        confine_need(fd, landlock_scope_signals(), "cannot scope signals", "");
}

static void set_shared_memory(int fd, const struct program *program,
                              const struct runner_preparation *preparation)
{
    if (preparation->has_mounts && !(preparation->layers & LAYER_ROOT) &&
        mounts_set_shared_memory(program->run.shared_bytes, program->directory) < 0)
        confine_fail(fd, "cannot make a private /dev/shm", "");
}

static void show_paths(int fd, const struct program *program,
                       const struct runner_preparation *preparation)
{
    const char *subject;

    if (preparation->layers & LAYER_ROOT && root_show(preparation, program, &subject) < 0)
        confine_fail(fd, "cannot show in the sandbox: ", subject);
}

/* The proxy takes one listener, so it is sent when this tree can no longer be refused. */
static void cold_start_let_out(int fd, const struct program *program)
{
    if (program->outlet >= 0)
        confine_need(fd, network_let_out(program->outlet), "cannot reach the proxy of the run", "");
}

void cold_start_show(int fd, const struct program *program,
                     const struct runner_preparation *preparation)
{
    set_shared_memory(fd, program, preparation);
    show_paths(fd, program, preparation);
    if (program->script && script_lay_over(preparation, program) < 0)
        confine_fail(fd, "cannot lay the script over ", program->script);
}

static _Noreturn void cold_start_execute(const struct program *program,
                                         const struct runner_preparation *preparation, int fd)
{
    char **variables = program->variables;
    sigset_t blocked;

    setsid();
    if (!(preparation->layers & LAYER_PID_NAMESPACE)) {
        enter_cgroups_late(fd, preparation->cgroups);
        seal_late(fd, preparation);
    }
    cold_start_show(fd, program, preparation);
    if (program->input >= 0 && dup2(program->input, STDIN_FILENO) < 0)
        confine_fail(fd, "cannot hand over the input", "");
    if (chdir(program->directory) < 0)
        confine_fail(fd, "cannot enter the working directory ", program->directory);
    if (program->run.has_starter)
        variables = starter_lend(preparation->starter, variables);
    if (program->gate >= 0)
        variables = starter_lend_gate(program->gate, variables);
    if (program->tools >= 0)
        variables = starter_lend_tools(program->tools, variables);
    if (preparation->layers & LAYER_FILES)
        confine_need(fd, files_restrict(preparation, program), "cannot make Landlock rules", "");
    cold_start_let_out(fd, program);
    confine_need(fd, identity_join(preparation, program), "cannot use devices", "");
    confine_need(fd, identity_take(preparation), "cannot take a uid of its own", "");
    confine_capabilities(fd, 0);
    if (preparation->layers & LAYER_CALLS)
        confine_need(fd, filter_install(FILTER_WORKER), "cannot filter system calls", "");
    if (!(preparation->layers & LAYER_PID_NAMESPACE))
        protect_others(fd, preparation->layers);
    confine_limits(fd, &program->run.limits, preparation->layers);
    sigemptyset(&blocked);
    if (program->input >= 0) /* the program of a session lets it through when it has a handler */
        sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    execve(program->arguments[0], program->arguments, variables);
    confine_fail(fd, "cannot execute ", program->arguments[0]);
}

static pid_t cold_start_fork(const struct program *program,
                             const struct runner_preparation *preparation, int *ret_fd)
{
    return confine_fork(program, preparation, cold_start_execute, ret_fd);
}

const struct program_start cold_start = {.start = cold_start_fork};
