#include "environments/process/core/keeper.h"

#include "environments/process/runner/kernel.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STACK_BYTES = 16 * 1024,
    LARGE_BYTES = 24 << 20, /* less is taken apart in half a millisecond */
};

static bool keeper_wanted;

void keeper_look(void)
{
    char text[64] = "";
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char *resident = text;

    if (fd < 0)
        return;
    if (read(fd, text, sizeof text - 1) > 0)
        (void)strtoul(text, &resident, 10);
    close(fd);
    keeper_wanted = strtoul(resident, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) >= LARGE_BYTES;
}

void keeper_forgo(void)
{
    keeper_wanted = false;
}

bool keeper_is_wanted(void)
{
    return keeper_wanted;
}

/* Runs with all signals blocked, and sets no errno, which is the worker's. */
static _Noreturn int keeper_stay(void *nothing)
{
    (void)nothing;
    kernel_close(0, INT_MAX);
    for (;;)
        (void)syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

pid_t keeper_begin(void)
{
    sigset_t all;
    sigset_t former;
    char *stack;
    pid_t pid;

    if (!keeper_wanted)
        return 0;
    stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &former);
    pid = clone(keeper_stay, stack + STACK_BYTES, CLONE_VM | CLONE_PARENT | SIGCHLD, NULL);
    sigprocmask(SIG_SETMASK, &former, NULL);
    return pid > 0 ? pid : 0;
}
