#include "environments/process/core/stacks.h"

#include "base/clock.h"
#include "base/starter/starter.h"
#include "environments/process/control.h"
#include "environments/process/core/python_api.h"
#include "environments/process/runner/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACKS_SECONDS 0.1

/* Arguments of Python's writer: for the current thread, and for all threads, the newest first. */
enum { STACKS_OF_ONE = 63, STACKS_OF_ALL = 64 };

/* Worker and supervisor can write here, so the supervisor believes none of it. */
struct stacks_area {
    atomic_uint is_done;
    atomic_uint length;
    char text[CONTROL_STACKS_BYTES];
};

typedef void stacks_python(int number);

static struct {
    stacks_python *writer;    /* NULL: there is none */
    struct stacks_area *area; /* NULL: there is none */
    stacks_python *former;    /* the starter's: Python's handler for its signal */
} stacks;

/* Lets Python register NUMBER as a signal whose handler writes stacks to descriptor 0, and takes
 * the signal back. Returns the handler, or NULL. */
static stacks_python *stacks_register(struct python_object *module, int number, bool is_of_all)
{
    struct python_object *result;
    struct sigaction former;
    struct sigaction theirs;

    if (sigaction(number, NULL, &former) < 0)
        return NULL;
    result = python.PyObject_CallMethod(module, "register", "iii", number, STDIN_FILENO, is_of_all);
    python.PyErr_Clear();
    python.Py_DecRef(result);
    if (sigaction(number, &former, &theirs) < 0 || theirs.sa_handler == former.sa_handler)
        return NULL;
    return theirs.sa_handler;
}

void stacks_find_writer(void)
{
    struct python_object *module = python_import_unseen("faulthandler");

    python.PyErr_Clear();
    if (module && stacks_register(module, STACKS_OF_ONE, false))
        stacks.writer = stacks_register(module, STACKS_OF_ALL, true);
}

void stacks_share(void)
{
    void *area =
        mmap(NULL, sizeof *stacks.area, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    stacks.area = area == MAP_FAILED || !stacks.writer ? NULL : area;
}

static void stacks_futex(int operation, unsigned value, const struct timespec *time)
{
    syscall(SYS_futex, &stacks.area->is_done, operation, value, time, NULL, 0);
}

static void stacks_be_done(void)
{
    atomic_store(&stacks.area->is_done, 1);
    stacks_futex(FUTEX_WAKE, 1, NULL);
}

/* Adds to FILE the stacks that Python writes for NUMBER, and copies its contents to the shared
 * memory. */
static void stacks_write_to(int file, int number)
{
    ssize_t length;

    stacks.writer(number);
    length = pread(file, stacks.area->text, CONTROL_STACKS_BYTES, 0);
    atomic_store(&stacks.area->length, length > 0 ? (unsigned)length : 0);
}

/* In the copy, which has this thread only, while the other threads may have been anywhere: only
 * calls that a signal handler may make are made. If it crashes, only the copy ends. */
static _Noreturn void stacks_write(void)
{
    sigset_t all;
    int file;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    kernel_close(0, INT_MAX);
    file = memfd_create("stacks", 0);
    if (file == STDIN_FILENO) {
        stacks_write_to(file, STACKS_OF_ONE);
        stacks_write_to(file, STACKS_OF_ALL);
    }
    stacks_be_done();
    _exit(0);
}

/* The copy is a child of the supervisor, so that the script gets no unknown child. The starter's
 * handler flushes the output of the script, too. */
static void stacks_on_signal(int number, siginfo_t *information, void *context)
{
    const int error = errno;
    const bool is_asked = information->si_code == SI_TKILL && information->si_pid == 1;
    pid_t copy = is_asked ? kernel_fork_sibling() : 1;

    (void)context;
    if (copy == 0)
        stacks_write();
    if (copy < 0)
        stacks_be_done();
    errno = error;
    stacks.former(number);
}

/* The signal is the starter's, so the script sees no further signal handled. A script that has a
 * handler of its own for it, or blocks it, is not asked. */
void stacks_answer(void)
{
    struct sigaction action;

    if (!stacks.area || sigaction(STARTER_SIGNAL, NULL, &action) < 0 ||
        action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
        return;
    stacks.former = action.sa_handler;
    action.sa_sigaction = stacks_on_signal;
    action.sa_flags |= SA_SIGINFO;
    (void)sigaction(STARTER_SIGNAL, &action, NULL);
}

void stacks_leave(void)
{
    struct sigaction action;

    if (!stacks.area)
        return;
    if (stacks.former && sigaction(STARTER_SIGNAL, NULL, &action) == 0) {
        action.sa_handler = stacks.former;
        action.sa_flags &= ~SA_SIGINFO;
        (void)sigaction(STARTER_SIGNAL, &action, NULL);
    }
    munmap(stacks.area, sizeof *stacks.area);
    stacks.area = NULL;
}

/* When the time is over, a part of the stacks is better than none. */
static void stacks_wait(void)
{
    const double deadline = clock_seconds() + STACKS_SECONDS;
    double left;

    while (!atomic_load(&stacks.area->is_done) && (left = deadline - clock_seconds()) > 0) {
        const struct timespec time = {.tv_nsec = (long)(left * 1e9)};

        stacks_futex(FUTEX_WAIT, 0, &time);
    }
}

size_t stacks_take(pid_t pid, char *text)
{
    size_t length;

    if (!stacks.area)
        return 0;
    atomic_store(&stacks.area->is_done, 0);
    syscall(SYS_tgkill, pid, pid, STARTER_SIGNAL); /* to its main thread */
    stacks_wait();
    length = atomic_load(&stacks.area->length);
    if (length > CONTROL_STACKS_BYTES)
        return 0;
    memcpy(text, stacks.area->text, length);
    return length;
}
