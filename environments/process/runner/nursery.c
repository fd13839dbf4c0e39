/* A nursery: a PID namespace whose pid 1 does nothing but end with its server, and a zygote in it,
 * a Python that has started ahead of any code and makes a copy of itself for each script
 * (core/worker.c).
 *
 *     server --clone, exec--> runner --clone(PARENT)--> pid 1
 *                                    --clone(PARENT)--> zygote --clone(PARENT)--> supervisors
 *
 * All are children of the server, which reaps them; when pid 1 ends, the kernel ends them all. */
#include "environments/process/runner/nursery.h"

#include "base/memory.h"
#include "base/starter/starter.h"
#include "environments/process/runner/cold_start.h"
#include "environments/process/runner/confine.h"
#include "environments/process/runner/identity.h"
#include "environments/process/runner/kernel.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/prepare.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/runner.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CORE_PATH "/proc/self/fd/103" /* ZYGOTE_CORE_FD */

enum { ZYGOTE_PID = 30000 };

/* Reads the pipe FAILURE: a text if the zygote could not be started, else end-of-file. */
static int nursery_on_failure(int failure)
{
    char text[256];
    ssize_t length = read(failure, text, sizeof text - 1);

    close(failure);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    message_send_text(CONTROL_FAILED, text);
    _exit(1);
}

/* The kernel reaps orphans. */
static _Noreturn void nursery_keep(const struct runner_preparation *preparation, int failure)
{
    signal(SIGCHLD, SIG_IGN);
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
    if (identity_take(preparation) < 0)
        _exit(1);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        struct pollfd watched[] = {
            {.fd = CONTROL_FD, .events = POLLRDHUP},
            {.fd = failure, .events = POLLIN}, /* ignored while it is -1 */
        };

        if (poll(watched, ARRAY_SIZE(watched), -1) < 0)
            continue;
        if (watched[0].revents)
            _exit(0);
        if (watched[1].revents)
            failure = nursery_on_failure(failure);
    }
}

/* Writes a file for the zygote: the layers, and the CONTROL_RUN of PROGRAM. -1 with errno set. */
static int zygote_write_job(const struct program *program,
                            const struct runner_preparation *preparation)
{
    const struct zygote_job job = {.layers = preparation->layers};
    int file = memfd_create("job", MFD_CLOEXEC);

    if (file < 0 || write(file, &job, sizeof job) != sizeof job ||
        write(file, program->payload, program->length) != (ssize_t)program->length)
        return -1;
    return file;
}

static void zygote_place(int fd, int from, int to)
{
    confine_need(fd, dup2(from, to), "cannot hand over a descriptor", "");
}

/* The zygote must have no right over the mounts that cover parts of its root, so these belong to
 * the former user namespace. */
static void zygote_enter_user(int fd, const struct runner_preparation *preparation)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (preparation->layers & LAYER_UID) {
        confine_need(fd, identity_take(preparation), "cannot take a uid of its own", "");
        return;
    }
    confine_need(fd, prctl(PR_SET_DUMPABLE, 1), "cannot become dumpable", "");
    confine_need(fd, unshare(CLONE_NEWUSER | CLONE_NEWNS),
                 "user and mount namespaces of the zygote", "");
    confine_need(fd, identity_map_own(uid, gid), "cannot map its ids", "");
}

/* To map uid 0 into the user namespace of a worker takes CAP_SETFCAP; to keep networks takes the
 * other two. Any process that may make a user namespace has as much. */
static uint32_t zygote_capabilities(const struct runner_preparation *preparation)
{
    const bool keeps_networks = preparation->layers & LAYER_NETWORK;
    const uint32_t for_networks = CAP_TO_MASK(CAP_SYS_ADMIN) | CAP_TO_MASK(CAP_NET_ADMIN);

    return CAP_TO_MASK(CAP_SETFCAP) | (keeps_networks ? for_networks : 0);
}

/* Nobody reads the pipe: a Python that has written to it is not copied (core/core.c). */
static void zygote_keep_prints(int fd)
{
    int ends[2];

    confine_need(fd, pipe2(ends, O_CLOEXEC), "pipe", "");
    zygote_place(fd, ends[0], ZYGOTE_PRINTS_FD);
    zygote_place(fd, ends[1], STDOUT_FILENO);
    zygote_place(fd, ends[1], STDERR_FILENO);
}

/* /dev/null takes CONTROL_FD, because no later descriptor may have the number of a supervisor's
 * channel. The reserve, the first directory of the zygote, is opened when its namespace is made,
 * whose mounts it needs. */
static _Noreturn void zygote_execute(const struct program *program,
                                     const struct runner_preparation *preparation, int fd)
{
    char **variables = starter_lend(preparation->starter, program->variables);
    int job = zygote_write_job(program, preparation);

    setsid();
    cold_start_show(fd, program, preparation);
    zygote_place(fd, job, ZYGOTE_JOB_FD);
    zygote_place(fd, program->orders, ZYGOTE_ORDERS_FD);
    zygote_place(fd, program->core, ZYGOTE_CORE_FD);
    confine_need(fd, identity_join(preparation, program), "cannot use devices", "");
    zygote_enter_user(fd, preparation);
    zygote_place(fd, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), ZYGOTE_RESERVE_FD);
    confine_need(fd, chdir(program->directory), "cannot enter the working directory ",
                 program->directory);
    zygote_keep_prints(fd);
    confine_capabilities(fd, zygote_capabilities(preparation));
    confine_zygote_limits(fd, &program->run.limits);
    zygote_place(fd, STDIN_FILENO, CONTROL_FD);
    execve(program->arguments[0], program->arguments, starter_lend_library(CORE_PATH, variables));
    confine_fail(fd, "cannot execute ", program->arguments[0]);
}

static _Noreturn void zygote_begin(struct runner_preparation *preparation, int fd)
{
    struct wire_head head;
    int descriptors[CONTROL_DESCRIPTORS];
    struct program program = {0};

    prepare_supervisor(preparation);
    message_send_text(CONTROL_READY, preparation->missing);
    if (!message_receive_head(CONTROL_FD, &head, descriptors) || head.type != CONTROL_RUN)
        _exit(1);
    message_receive_program(&program, head.length, descriptors);
    zygote_execute(&program, preparation, fd);
}

/* Libraries such as OpenSSL notice by its pid that a process is a copy, and draw new random numbers
 * then. So the zygote gets a pid that hardly any process of a script ever has. */
static pid_t zygote_fork(void)
{
    const pid_t pid = ZYGOTE_PID;
    const struct clone_args arguments = {
        .flags = CLONE_PARENT, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};

    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

void nursery_found(struct runner_preparation *preparation)
{
    struct control_supervisor nursery;
    int failure[2];

    runner_need(NEED_ALWAYS, pipe2(failure, O_CLOEXEC), "pipe");
    nursery.pid = kernel_fork_sibling();
    if (nursery.pid == 0) {
        close(failure[1]);
        nursery_keep(preparation, failure[0]);
    }
    runner_need(NEED_ALWAYS, nursery.pid, "cannot fork the nursery");
    nursery.zygote = zygote_fork();
    if (nursery.zygote == 0)
        zygote_begin(preparation, failure[1]);
    runner_need(NEED_ALWAYS, nursery.zygote, "cannot fork the zygote");
    message_send(CONTROL_SUPERVISOR, &nursery, sizeof nursery);
    _exit(0);
}
