#include "base/clock.h"
#include "base/starter/starter.h"
#include "environments/engine/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEFTOVERS_KILL_SECONDS 2. /* for a process that hangs in the kernel */

enum { LOOK_NANOSECONDS = 500000 }; /* between two looks whether something new has been forked */

/* Where memory runs out, the program is to go, not its init. */
static void offer_to_the_kernel(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return; /* only the order of dying is at stake */
    (void)!write(fd, "1000", 4);
    close(fd);
}

static void forget_the_init(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
}

static _Noreturn void init_program_execute(const struct init_program *program, int failures)
{
    int input = program->input >= 0 ? program->input : open("/dev/null", O_RDONLY | O_CLOEXEC);
    int number;

    forget_the_init();
    offer_to_the_kernel();
    if (program->is_script)
        environ = starter_lend(starter_open(), environ);
    if (program->gate >= 0)
        environ = starter_lend_gate(program->gate, environ);
    if (input >= 0 && dup2(input, STDIN_FILENO) == STDIN_FILENO &&
        dup2(program->outputs[0], STDOUT_FILENO) == STDOUT_FILENO &&
        dup2(program->outputs[1], STDERR_FILENO) == STDERR_FILENO)
        execvp(*program->arguments, program->arguments);
    number = errno;
    (void)!write(failures, &number, sizeof number);
    _exit(127);
}

pid_t init_program_start(const struct init_program *program, int *ret_failure)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        init_program_execute(program, ends[1]);
    close(ends[1]);
    close(program->outputs[0]);
    close(program->outputs[1]);
    if (program->input >= 0)
        close(program->input);
    *ret_failure = 0;
    if (pid > 0)
        (void)!read(ends[0], ret_failure, sizeof *ret_failure); /* nothing: it is executed */
    close(ends[0]);
    return pid;
}

/* True when no child is left. */
static bool init_program_reap(pid_t program, int *program_status, unsigned *count)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == program)
            *program_status = status;
        else
            *count += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    return pid < 0 && errno == ECHILD;
}

unsigned init_program_kill_leftovers(pid_t program, int *status, bool *ret_empty)
{
    const struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    double deadline = clock_seconds() + LEFTOVERS_KILL_SECONDS;
    unsigned count = 0;

    for (;;) {
        /* In a kept container pid 1 waits for processes that are not our children. */
        bool is_alone = kill(-1, SIGKILL) < 0 && errno == ESRCH;

        *ret_empty = init_program_reap(program, status, &count) && is_alone;
        if (*ret_empty || clock_seconds() > deadline)
            return count;
        nanosleep(&pause, NULL);
    }
}
