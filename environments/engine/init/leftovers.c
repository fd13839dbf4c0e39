#include "base/clock.h"
#include "environments/engine/init/init.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define INIT_LEFTOVERS_KILL_SECONDS 2. /* for a process that hangs in the kernel */

enum { LOOK_NANOSECONDS = 500000 }; /* between two looks whether something new has been forked */

/* True when no child is left. */
static bool init_leftovers_reap(pid_t program, int *program_status, unsigned *count)
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

unsigned leftovers_kill(pid_t program, int *status, bool *ret_empty)
{
    const struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    double deadline = clock_seconds() + INIT_LEFTOVERS_KILL_SECONDS;
    unsigned count = 0;

    for (;;) {
        /* In a kept container pid 1 waits for processes that are not our children. */
        bool is_alone = kill(-1, SIGKILL) < 0 && errno == ESRCH;

        *ret_empty = init_leftovers_reap(program, status, &count) && is_alone;
        if (*ret_empty || clock_seconds() > deadline)
            return count;
        nanosleep(&pause, NULL);
    }
}
