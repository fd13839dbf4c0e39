/* pyexecd-runner LAYERS [CGROUP-DIRECTORY...]; see runner.h. Only the server starts it:
 * descriptor 3 is the control channel, 1 and 2 are the program's streams, 0 is /dev/null. */
#include "environments/process/runner/cold_start.h"
#include "environments/process/runner/kernel.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/nursery.h"
#include "environments/process/runner/prepare.h"
#include "environments/process/runner/runner.h"
#include "environments/process/runner/supervisor.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Resets what is inherited from the server: dispositions, mask, descriptors, session, directory.
 * The umask stays: a server has a private one, `pyexecd run` has its user's. */
static void forget_the_server(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    kernel_close(CONTROL_FD + 1, INT_MAX);
    fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC); /* the program must never hold it */
    setsid();
    if (chdir("/") < 0)
        runner_refuse(NEED_ALWAYS, "cannot enter /");
}

int main(int argc, char **argv)
{
    struct runner_preparation preparation = {0};
    struct control_supervisor supervisor = {0};
    struct stat status;

    if (argc < 2 || fstat(CONTROL_FD, &status) < 0 || !S_ISSOCK(status.st_mode)) {
        fputs("pyexecd-runner is started by pyexecd\n", stderr);
        return 64;
    }
    message_greet(CONTROL_FD);
    preparation.layers = (unsigned)strtoul(argv[1], NULL, 10);
    preparation.cgroups = argv + 2;
    prctl(PR_SET_NAME, "pyexecd-runner");
    forget_the_server();
    prepare_tree(&preparation);
    if (preparation.layers & LAYER_NURSERY)
        nursery_found(&preparation);
    supervisor.pid = kernel_fork_sibling();
    if (supervisor.pid < 0)
        runner_refuse(NEED_ALWAYS, "cannot fork the supervisor");
    if (supervisor.pid == 0) {
        prepare_supervisor(&preparation);
        supervise(&preparation, &cold_start, NULL);
    }
    message_send(CONTROL_SUPERVISOR, &supervisor, sizeof supervisor);
    _exit(0);
}
