#include "server/watchdog.h"

#include <execinfo.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    WATCHDOG_FRAMES = 64,
    WATCHDOG_TELLING_SECONDS = 2, /* on the clock */
};

static const char watchdog_text[] = "pyexecd: the server does not come back to its clients and "
                                    "ends itself. Please report where it was:\n";

/* A signal handler has nothing else to share with its program. */
static volatile sig_atomic_t watchdog_turned;
static volatile sig_atomic_t watchdog_late; /* seconds */
static volatile sig_atomic_t watchdog_most; /* seconds */

/* Comes after each second of processor time. */
static void watchdog_on_second(int number)
{
    void *frames[WATCHDOG_FRAMES];

    (void)number;
    if (watchdog_turned) {
        watchdog_turned = 0;
        watchdog_late = 0;
    }
    if (watchdog_late++ < watchdog_most)
        return;
    (void)signal(SIGALRM, SIG_DFL);
    (void)alarm(WATCHDOG_TELLING_SECONDS); /* perhaps nobody reads it */
    (void)!write(STDERR_FILENO, watchdog_text, sizeof watchdog_text - 1);
    backtrace_symbols_fd(frames, backtrace(frames, WATCHDOG_FRAMES), STDERR_FILENO);
    _exit(WATCHDOG_STATUS);
}

static void watchdog_on_turn(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)loop;
    (void)watcher;
    (void)events;
    watchdog_turned = 1;
}

static void watchdog_set(time_t seconds)
{
    const struct timeval time = {.tv_sec = seconds};

    (void)setitimer(ITIMER_PROF, &(struct itimerval){time, time}, NULL);
}

void watchdog_start(struct watchdog *watchdog, struct ev_loop *loop, int seconds)
{
    const struct sigaction action = {.sa_handler = watchdog_on_second, .sa_flags = SA_RESTART};
    void *frame;

    (void)backtrace(&frame, 1); /* loads the library, which the handler could not */
    watchdog_turned = 1;
    watchdog_late = 0;
    watchdog_most = seconds;
    ev_prepare_init(&watchdog->turn, watchdog_on_turn);
    ev_prepare_start(loop, &watchdog->turn);
    ev_unref(loop); /* it is no reason to go on */
    (void)sigaction(SIGPROF, &action, NULL);
    watchdog_set(1);
}

void watchdog_stop(struct watchdog *watchdog, struct ev_loop *loop)
{
    if (!ev_is_active(&watchdog->turn))
        return;
    watchdog_set(0);
    ev_ref(loop);
    ev_prepare_stop(loop, &watchdog->turn);
}
