#include "base/clock.h"
#include "base/python_helpers.h"
#include "environments/engine/init/init.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define INIT_LEFTOVERS_KILL_SECONDS 2. /* for a process that hangs in the kernel */

enum { LOOK_NANOSECONDS = 500000 }; /* between two looks whether something new has been forked */

/* True when no child is left. */
static bool init_leftovers_reap(pid_t program, const struct python_helpers *helpers,
                                int *program_status, struct leftovers *ret)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

        if (pid == program)
            *program_status = status;
        else if (python_helpers_have(helpers, pid))
            ret->had_helpers |= is_killed;
        else
            ret->count += is_killed;
    }
    return pid < 0 && errno == ECHILD;
}

struct leftovers leftovers_kill(pid_t program, int *status)
{
    const struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    double deadline = clock_seconds() + INIT_LEFTOVERS_KILL_SECONDS;
    struct python_helpers helpers;
    struct leftovers ret = {0};

    python_helpers_find(&helpers);
    for (;;) {
        /* In a kept container pid 1 waits for processes that are not our children. */
        bool is_alone = kill(-1, SIGKILL) < 0 && errno == ESRCH;

        ret.are_gone = init_leftovers_reap(program, &helpers, status, &ret) && is_alone;
        if (ret.are_gone || clock_seconds() > deadline)
            return ret;
        nanosleep(&pause, NULL);
    }
}
