#include "base/clock.h"
#include "base/descriptors.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/engine/init/cell_relay.h"
#include "environments/engine/init/init.h"
#include "environments/engine/init/wire_end.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define INIT_WATCH_LONGEST_SECONDS 3600. /* of one poll; its milliseconds are an int */
#define INIT_ASTRAY_SECONDS        2.    /* for a program that is about to end by itself */

enum { WATCH_OWN = 3 }; /* that watch_wait() watches, beside the wire's */

static bool can_end(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

static int milliseconds_left(const struct watch *watch)
{
    double left = watch->deadline - clock_seconds();

    if (left <= 0)
        return 0;
    return (int)((left < watch->longest ? left : watch->longest) * 1e3) + 1;
}

/* The script may have replaced the file by anything, so it is opened without links and without
 * waiting. */
static void watch_take_go(struct watch *watch, const char *payload)
{
    watch->go = go_decode(payload);
    watch->has_go = true;
    if (!go_has_code(&watch->go))
        return;
    watch->file = open(watch->script, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    watch->code = watch->go.size;
}

static void watch_compare_code(struct watch *watch, const char *theirs, size_t length)
{
    char ours[INIT_PIECE_BYTES];

    watch->is_different |= length > watch->code ||
                           read(watch->file, ours, length) != (ssize_t)length ||
                           memcmp(theirs, ours, length) != 0;
    watch->code -= size_min(length, watch->code);
}

static void watch_on_frame(struct wire_reader *reader, uint32_t type, const char *data,
                           size_t length)
{
    struct watch *watch = CONTAINER_OF(reader, struct watch, input);

    if (type == INIT_GO && watch->script && !watch->has_go)
        watch_take_go(watch, data);
    if (type == INIT_DISMISSAL)
        watch->is_dismissed = true;
    if (type == INIT_TOOLS)
        watch->needs_tools = true;
    if (type == INIT_CODE)
        watch_compare_code(watch, data, length);
    if (type == INIT_CELLS && watch->relay)
        cell_relay_take(watch->relay, data, length);
}

static bool watch_takes_input(const struct watch *watch)
{
    return !watch->relay || cell_relay_is_empty(watch->relay);
}

/* Ends everything, now. */
static void watch_lose_lifeline(struct watch *watch)
{
    watch->deadline = clock_seconds();
    watch->lifeline = -1;
}

/* The tools of the script come beside the go, where the lifeline is a socket of the server. */
static ssize_t watch_receive(struct watch *watch, char *data, size_t length)
{
    size_t received = 0;
    int tools;
    ssize_t count = descriptors_receive(watch->lifeline, data, length, 0, &tools, 1, &received);

    if (count < 0 && errno == ENOTSOCK)
        return read(watch->lifeline, data, length);
    if (received == 0)
        return count;
    if (watch->tools >= 0)
        close(watch->tools);
    watch->tools = tools;
    return count;
}

static void watch_read_lifeline(struct watch *watch)
{
    char data[CELL_RELAY_READ_BYTES];
    ssize_t count;

    if (!watch_takes_input(watch)) { /* it is not waited for input: there is no more */
        watch_lose_lifeline(watch);
        return;
    }
    count = watch_receive(watch, data, sizeof data);
    if (count < 0 && errno == EAGAIN)
        return;
    if (count > 0)
        wire_reader_feed(&watch->input, data, (size_t)count);
    if (count <= 0 || watch->input.state == WIRE_BROKEN)
        watch_lose_lifeline(watch);
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
        .tools = -1,
        .input = {.protocol = &init_protocol, .frame = watch_on_frame, .state = WIRE_OPEN},
    };
    return watch->signals >= 0;
}

/* IS_READY: the program has said something, or takes more. */
static void watch_serve_cells(struct watch *watch, bool is_ready, bool was_astray)
{
    if (is_ready)
        cell_relay_serve(watch->relay, watch->deadline);
    if (watch->relay->is_astray && !was_astray &&
        watch->deadline > clock_seconds() + INIT_ASTRAY_SECONDS)
        watch->deadline = clock_seconds() + INIT_ASTRAY_SECONDS;
}

static void watch_serve(struct watch *watch, const struct pollfd *watched)
{
    const bool was_astray = watch->relay && watch->relay->is_astray;

    if (watch->wire)
        wire_end_serve(watch->wire, watched + WATCH_OWN);
    if (watched[1].revents)
        watch_read_lifeline(watch);
    if (watch->relay)
        watch_serve_cells(watch, watched[2].revents, was_astray);
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
