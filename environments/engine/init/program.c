#include "base/clock.h"
#include "base/python_helpers.h"
#include "base/starter/starter.h"
#include "environments/engine/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

static void forget_the_init(const struct init_program *program)
{
    sigset_t blocked;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&blocked);
    if (program->input >= 0) /* the program of a session lets it through when it has a handler */
        sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    setsid();
}

/* The lines of /etc/passwd; what a script has put in its place is at worst of no use. */
static size_t init_program_read_users(char *ret, size_t room)
{
    int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t length = fd < 0 ? 0 : read(fd, ret, room - 1);

    if (fd >= 0)
        close(fd);
    ret[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

/* True if LINES, as of /etc/passwd, have a user with the number UID. */
static bool init_program_knows(char *lines, uid_t uid)
{
    char *rest = lines;

    for (char *line; (line = strsep(&rest, "\n"));) {
        (void)strsep(&line, ":");
        (void)strsep(&line, ":");
        if (line && strtoul(line, NULL, 10) == uid && *line >= '0' && *line <= '9')
            return true;
    }
    return false;
}

/* Programs ask for the name of their user, and fail where neither the image nor a variable has it.
 */
static void init_program_name_user(void)
{
    char lines[64 << 10];
    const char *name;

    if (init_program_read_users(lines, sizeof lines) > 0 && init_program_knows(lines, geteuid()))
        return;
    setenv("USER", "user", 0);
    name = getenv("USER");
    if (name)
        setenv("LOGNAME", name, 0);
}

static _Noreturn void init_program_execute(const struct init_program *program, int failures)
{
    int input = program->input >= 0 ? program->input : open("/dev/null", O_RDONLY | O_CLOEXEC);
    int number;

    forget_the_init(program);
    offer_to_the_kernel();
    init_program_name_user();
    if (program->is_script)
        environ = starter_lend(starter_open(), environ);
    if (program->gate >= 0)
        environ = starter_lend_gate(program->gate, environ);
    if (program->tools >= 0)
        environ = starter_lend_tools(program->tools, environ);
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
static bool init_program_reap(pid_t program, const struct python_helpers *helpers,
                              int *program_status, struct leftovers *leftovers)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

        if (pid == program)
            *program_status = status;
        else if (python_helpers_have(helpers, pid))
            leftovers->had_helpers |= is_killed;
        else
            leftovers->count += is_killed;
    }
    return pid < 0 && errno == ECHILD;
}

void init_program_kill_leftovers(pid_t program, int *status, struct leftovers *leftovers)
{
    const struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    double deadline = clock_seconds() + LEFTOVERS_KILL_SECONDS;
    struct python_helpers helpers;

    python_helpers_find(&helpers);
    for (;;) {
        /* In a kept container pid 1 waits for processes that are not our children. */
        bool is_alone = kill(-1, SIGKILL) < 0 && errno == ESRCH;

        leftovers->are_gone = init_program_reap(program, &helpers, status, leftovers) && is_alone;
        if (leftovers->are_gone || clock_seconds() > deadline)
            return;
        nanosleep(&pause, NULL);
    }
}
