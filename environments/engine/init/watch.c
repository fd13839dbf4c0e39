#include "base/clock.h"
#include "base/memory.h"
#include "environments/engine/init/cell_relay.h"
#include "environments/engine/init/init.h"
#include "environments/engine/init/wire_end.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define INIT_WATCH_LONGEST_SECONDS 3600. /* of one poll; its milliseconds are an int */
#define INIT_ASTRAY_SECONDS        2.    /* for a program that is about to end by itself */

enum {
    WATCH_CODE_BYTES = 16 << 10,
    WATCH_OWN = 3, /* that watch_wait() watches, beside the wire's */
};

static bool can_end(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

bool watch_begin(struct watch *watch, double seconds)
{
    sigset_t all;
    sigset_t watched;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    *watch = (struct watch){
        .signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK),
        .lifeline = can_end(STDIN_FILENO) ? STDIN_FILENO : -1,
        .deadline = clock_seconds() + seconds,
        .longest = INIT_WATCH_LONGEST_SECONDS,
    };
    return watch->signals >= 0;
}

static int milliseconds_left(const struct watch *watch)
{
    double left = watch->deadline - clock_seconds();

    if (left <= 0)
        return 0;
    return (int)((left < watch->longest ? left : watch->longest) * 1e3) + 1;
}

bool watch_has_go(const struct watch *watch)
{
    return watch->told == GO_BYTES;
}

void watch_expect_code(struct watch *watch, int file, uint64_t size)
{
    watch->script = file;
    watch->code = size;
}

bool watch_has_code(const struct watch *watch)
{
    return watch->code == 0 || watch->is_different;
}

static ssize_t watch_read_go(struct watch *watch)
{
    ssize_t count = read(watch->lifeline, watch->go + watch->told, GO_BYTES - watch->told);

    if (count > 0)
        watch->told += (size_t)count;
    return count;
}

static ssize_t watch_read_code(struct watch *watch)
{
    char theirs[WATCH_CODE_BYTES];
    char ours[WATCH_CODE_BYTES];
    ssize_t count = read(watch->lifeline, theirs,
                         watch->code < sizeof theirs ? (size_t)watch->code : sizeof theirs);

    if (count <= 0)
        return count;
    watch->code -= (uint64_t)count;
    watch->is_different |= read(watch->script, ours, (size_t)count) != count ||
                           memcmp(theirs, ours, (size_t)count) != 0;
    return count;
}

static ssize_t watch_read_dismissal(struct watch *watch)
{
    char byte;
    ssize_t count = read(watch->lifeline, &byte, 1);

    watch->is_dismissed |= count > 0;
    return count;
}

static void read_lifeline(struct watch *watch)
{
    ssize_t count = !watch_has_go(watch) ? watch_read_go(watch)
                    : watch->code > 0    ? watch_read_code(watch)
                                         : watch_read_dismissal(watch);

    if (count < 0 && errno == EAGAIN)
        return;
    if (count <= 0)
        watch->deadline = clock_seconds();
    if (count <= 0 || (watch_has_go(watch) && !watch->keeps_line))
        watch->lifeline = -1;
}

static void watch_read_cells(struct watch *watch)
{
    char data[CELL_RELAY_READ_BYTES];
    ssize_t count;

    if (!cell_relay_is_empty(watch->relay)) { /* it is not waited for input: there is no more */
        watch->deadline = clock_seconds();
        return;
    }
    count = read(watch->lifeline, data, sizeof data);
    if (count < 0 && errno == EAGAIN)
        return;
    if (count > 0)
        cell_relay_take(watch->relay, data, (size_t)count);
    else
        watch->deadline = clock_seconds();
}

static void watch_serve_cells(struct watch *watch, short input, short channel)
{
    const bool was_astray = watch->relay->is_astray;

    if (channel)
        cell_relay_serve(watch->relay, watch->deadline);
    if (input)
        watch_read_cells(watch);
    if (watch->relay->is_astray && !was_astray &&
        watch->deadline > clock_seconds() + INIT_ASTRAY_SECONDS)
        watch->deadline = clock_seconds() + INIT_ASTRAY_SECONDS;
}

static void watch_serve(struct watch *watch, const struct pollfd *watched)
{
    if (watch->wire)
        wire_end_serve(watch->wire, watched + WATCH_OWN);
    if (watch->relay)
        watch_serve_cells(watch, watched[1].revents, watched[2].revents);
    else if (watched[1].revents)
        read_lifeline(watch);
}

/* A sender outside of the PID namespace has the pid 0 here, which a program cannot have. In a
 * kept container pid 1 passes an interruption on, and a program cannot be that either. */
static void take_signal(struct watch *watch, const struct signalfd_siginfo *signal)
{
    if (signal->ssi_code != SI_USER) /* rt_sigqueueinfo(2) lets a program write any pid */
        return;
    if (signal->ssi_signo == SIGTERM && signal->ssi_pid == 0)
        watch->deadline = clock_seconds();
    if (signal->ssi_signo == SIGINT && signal->ssi_pid <= 1)
        watch->interrupted = true;
}

static void read_signals(struct watch *watch)
{
    struct signalfd_siginfo signal;

    while (read(watch->signals, &signal, sizeof signal) == sizeof signal)
        take_signal(watch, &signal);
}

static bool watch_takes_input(const struct watch *watch)
{
    return !watch->relay || cell_relay_is_empty(watch->relay);
}

bool watch_wait(struct watch *watch)
{
    struct pollfd watched[WATCH_OWN + WIRE_END_WATCHED] = {
        {.fd = watch->signals, .events = POLLIN},
        {.fd = watch->lifeline, .events = watch_takes_input(watch) ? POLLIN : 0},
        {.fd = watch->relay ? watch->relay->channel : -1,
         .events = watch->relay ? cell_relay_events(watch->relay) : 0},
    };
    int left = milliseconds_left(watch);
    nfds_t count = WATCH_OWN;

    if (left == 0)
        return false;
    if (watch->wire) {
        wire_end_watch(watch->wire, watched + WATCH_OWN);
        count += WIRE_END_WATCHED;
    }
    /* Signals are blocked, so a failure is the work of the program: it shares our uid, and poll(2)
     * refuses to watch more descriptors than RLIMIT_NOFILE, which prlimit(2) sets. */
    if (poll(watched, count, left) < 0)
        watch->deadline = clock_seconds();
    else
        watch_serve(watch, watched);
    read_signals(watch);
    return watch->deadline > clock_seconds();
}
