#include "environments/process/core/worker.h"

#include "base/address_spaces.h"
#include "base/descriptors.h"
#include "base/starter/starter.h"
#include "environments/process/core/keeper.h"
#include "environments/process/core/networks.h"
#include "environments/process/core/stacks.h"
#include "environments/process/filter/filter.h"
#include "environments/process/runner/confine.h"
#include "environments/process/runner/files.h"
#include "environments/process/runner/identity.h"
#include "environments/process/runner/kernel.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/network.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/root_renewal.h"
#include "environments/process/runner/runner.h"
#include "environments/process/runner/script.h"
#include "environments/process/runner/supervisor.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One supervisor has one worker. */
static struct {
    const struct worker_job *job;
    const int *descriptors;
    size_t count;
    bool has_network; /* made by the zygote */
    char name[16];    /* the zygote's; a supervisor has another */
} worker;

/* Writes to descriptors of the server, which has the right to move others there. */
static void worker_enter_cgroups(const int *procs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        runner_need(NEED_ALWAYS, (int)write(procs[i], "0", 1), "cannot enter a cgroup");
}

static void worker_prepare(struct runner_preparation *preparation, const struct program *program)
{
    if (preparation->layers & LAYER_NETWORK && !worker.has_network)
        runner_need(NEED_ALWAYS, network_prepare(), "cannot prepare an own network");
    runner_need(NEED_ALWAYS, unshare(CLONE_NEWCGROUP), "cgroup namespace: unshare");
    script_prepare(preparation);
    root_renew(program, preparation->layers);
    runner_need(NEED_ALWAYS, chdir("/"), "cannot enter /");
    preparation->rules = preparation->layers & LAYER_FILES ? files_prepare(preparation) : -1;
    runner_need(NEED_ALWAYS, preparation->layers & LAYER_FILES ? preparation->rules : 0,
                "Landlock rules");
    runner_need(NEED_ALWAYS, script_lay_over(preparation, program), "cannot lay over the script");
}

/* Keeps the zygote's descriptors and the gate, and closes all others. */
static void worker_close_descriptors(void)
{
    int last = STDERR_FILENO;

    for (size_t i = 0; i < worker.job->count; i++)
        if (worker.job->kept[i] > last) {
            kernel_close(last + 1, worker.job->kept[i] - 1);
            last = worker.job->kept[i];
        }
    kernel_close(last + 1, INT_MAX);
}

/* A byte from the gate, and the descriptor beside it; -1: there is none. */
static char worker_receive(int *ret_descriptor)
{
    size_t count = 0;
    char byte;

    if (descriptors_receive(STARTER_GATE, &byte, 1, 0, ret_descriptor, 1, &count) != 1)
        _exit(0);
    if (count == 0)
        *ret_descriptor = -1;
    return byte;
}

/* The socket to the tools. True when it is there. */
static bool worker_take_tools(void)
{
    int tools;

    (void)worker_receive(&tools);
    if (tools < 0 || dup2(tools, STARTER_TOOLS) < 0)
        _exit(0);
    close(tools);
    return true;
}

/* The program of a session lets SIGINT through when it has a handler. It outlives an interrupt, and
 * may be copied. */
static void worker_take_input(int input)
{
    if (dup2(input, STDIN_FILENO) < 0)
        _exit(0);
    close(input);
    stacks_leave();
}

/* The code comes into the file of the script, and then a byte to the gate, with the input if there
 * is one. True when the script has tools. */
static bool worker_wait(void)
{
    const struct gate_word word = {.mark = 'w', .keeper = keeper_begin()};
    bool has_tools = false;
    sigset_t none;
    int input;

    if (write(STARTER_GATE, &word, sizeof word) != sizeof word)
        _exit(0);
    while (worker_receive(&input) == STARTER_TOOLS_FOLLOW)
        has_tools = worker_take_tools();
    sigemptyset(&none);
    if (input >= 0)
        worker_take_input(input);
    else
        sigprocmask(SIG_SETMASK, &none, NULL);
    close(STARTER_GATE);
    return has_tools;
}

static _Noreturn void worker_become(const struct program *program,
                                    const struct runner_preparation *preparation, int fd)
{
    struct process_limits limits = program->run.limits;
    sigset_t blocked;

    setsid();
    networks_forget();
    confine_need(fd, dup2(worker.descriptors[ZYGOTE_ORDER_OUTPUT], STDOUT_FILENO), "output", "");
    confine_need(fd, dup2(worker.descriptors[ZYGOTE_ORDER_ERRORS], STDERR_FILENO), "errors", "");
    confine_need(fd, chdir(program->directory), "cannot enter the working directory ",
                 program->directory);
    if (preparation->layers & LAYER_FILES)
        confine_need(fd, files_restrict(preparation, program), "cannot make Landlock rules", "");
    confine_need(fd, filter_install(FILTER_WORKER), "cannot filter system calls", "");
    confine_capabilities(fd, 0);
    if (limits.processes > 0)
        limits.processes += keeper_is_wanted();
    confine_limits(fd, &limits, preparation->layers);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT); /* until it is known what it is to be */
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    confine_need(fd, dup2(program->gate, STARTER_GATE), "gate", "");
    worker_close_descriptors();
    prctl(PR_SET_NAME, worker.name);
    worker.job->prepare();
    worker.job->begin(worker_wait() ? STARTER_TOOLS : -1);
    _exit(127);
}

static pid_t worker_fork(const struct program *program,
                         const struct runner_preparation *preparation, int *ret_fd)
{
    pid_t pid = confine_fork(program, preparation, worker_become, ret_fd);

    for (size_t i = ZYGOTE_ORDER_OUTPUT; i < worker.count; i++) /* their end is the worker's */
        close(worker.descriptors[i]);
    prctl(PR_SET_DUMPABLE, 0); /* the worker must not trace its supervisor */
    runner_need(NEED_ALWAYS, filter_install(FILTER_SUPERVISOR), "cannot filter system calls");
    return pid;
}

static const struct program_start worker_start = {
    .start = worker_fork, .stacks = stacks_take, .end = networks_give_back};

/* The zygote's descriptors of CONTROL_RUN are not there, and not needed. */
static void worker_parse(const struct worker_job *job, struct program *program)
{
    static const int none[CONTROL_DESCRIPTORS] = {-1, -1};

    (void)program_parse(program, job->payload, job->length, none);
    program->outlet = -1;
    program->run.is_ahead = true;
}

/* A supervisor that measures memory must see that worker and keeper have one. Memory of a device
 * stays taken as long as the keeper has it mapped, and the next call needs it. */
static bool worker_may_have_keeper(const struct program *program)
{
    return (program->run.limits.memory == 0 || address_spaces_can_compare()) &&
           !program_has_devices(program);
}

static _Noreturn void worker_supervise(const int *descriptors, size_t count, uid_t uid, gid_t gid)
{
    const struct control_supervisor self = {.pid = 0};
    struct runner_preparation preparation = {
        .layers = worker.job->layers & ~(unsigned)(LAYER_NURSERY | LAYER_UID),
        .has_mounts = true,
        .rules = -1,
        .starter = -1,
    };
    struct program program = {0};

    if (dup3(descriptors[ZYGOTE_ORDER_CONTROL], CONTROL_FD, O_CLOEXEC) < 0)
        _exit(1);
    close(descriptors[ZYGOTE_ORDER_CONTROL]);
    kernel_close(ZYGOTE_ORDERS_FD, ZYGOTE_STAND_IN_FD); /* nobody but the zygote gets orders */
    networks_forget_others();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_GET_NAME, worker.name);
    prctl(PR_SET_NAME, "pyexecd-runner");
    message_greet(CONTROL_FD);
    message_send(CONTROL_SUPERVISOR, &self, sizeof self);
    runner_need(NEED_NAMESPACES, identity_map_own(uid, gid), "cannot map its ids");
    worker_enter_cgroups(descriptors + ZYGOTE_ORDER_CGROUPS, count - ZYGOTE_ORDER_CGROUPS);
    worker_parse(worker.job, &program);
    if (!worker_may_have_keeper(&program))
        keeper_forgo();
    worker_prepare(&preparation, &program);
    stacks_share();
    supervise(&preparation, &worker_start, &program);
}

/* A supervisor begins in the reserve of the zygote, whose mounts it could not reach otherwise. */
static pid_t worker_clone(unsigned long flags)
{
    const int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    pid_t pid = -1;

    if (here >= 0 && fchdir(ZYGOTE_RESERVE_FD) == 0)
        pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (pid != 0 && fchdir(here) < 0)
        _exit(1); /* it must not import anything in the reserve */
    close(here);
    return pid;
}

int worker_make(const struct worker_job *job, const int *descriptors, size_t count)
{
    unsigned long flags = CLONE_PARENT | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC |
                          CLONE_NEWUTS | SIGCHLD;
    const uid_t uid = geteuid(); /* in a namespace of its own it has none at first */
    const gid_t gid = getegid();
    pid_t pid;

    worker.job = job;
    worker.descriptors = descriptors;
    worker.count = count;
    worker.has_network = job->layers & LAYER_NETWORK && networks_enter();
    keeper_look();
    if (job->layers & LAYER_NETWORK && !worker.has_network)
        flags |= CLONE_NEWNET;
    pid = worker_clone(flags);
    if (pid == 0)
        worker_supervise(descriptors, count, uid, gid);
    if (worker.has_network)
        networks_leave();
    return pid < 0 ? -1 : 0;
}
