#include "environments/engine/init/wire_end.h"

#include "base/clock.h"
#include "base/memory.h"
#include "environments/engine/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { WIRE_END_POLL_MILLISECONDS = 100 };

#define WIRE_END_HELLO_SECONDS 10.

static const enum init_frame wire_end_types[WIRE_END_OUTPUTS] = {INIT_OUT, INIT_ERRORS};

static bool wire_end_is_clear(const struct wire_end *wire)
{
    return wire->begin == wire->end;
}

static void wire_end_stop_reading(struct wire_end *wire, int i)
{
    if (wire->prints[i] >= 0)
        close(wire->prints[i]);
    wire->prints[i] = -1;
}

/* Nobody hears us any more: a program that prints gets to know it. */
static void wire_end_break(struct wire_end *wire)
{
    wire->out = -1;
    wire->begin = wire->end = 0;
    for (int i = 0; i < WIRE_END_OUTPUTS; i++)
        wire_end_stop_reading(wire, i);
}

static void wire_end_send(struct wire_end *wire)
{
    ssize_t count = write(wire->out, wire->pending + wire->begin, wire->end - wire->begin);

    if (count >= 0)
        wire->begin += (size_t)count;
    else if (errno != EAGAIN)
        wire_end_break(wire);
}

/* The program may have lowered our RLIMIT_NOFILE by prlimit(2): then poll(2) fails. */
static void wire_end_await(const struct wire_end *wire)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    struct pollfd ready = {.fd = wire->out, .events = POLLOUT};

    if (poll(&ready, 1, WIRE_END_POLL_MILLISECONDS) < 0)
        nanosleep(&pause, NULL);
}

/* False: the wire has not taken all until DEADLINE. */
static bool wire_end_clear(struct wire_end *wire, double deadline)
{
    for (;;) {
        if (!wire_end_is_clear(wire))
            wire_end_send(wire);
        if (wire_end_is_clear(wire))
            return wire->out >= 0;
        if (clock_seconds() > deadline)
            return false;
        wire_end_await(wire);
    }
}

static void wire_end_write(struct wire_end *wire, const char *bytes, size_t length, double deadline)
{
    if (!wire_end_clear(wire, deadline))
        return;
    memcpy(wire->pending, bytes, length);
    wire->begin = 0;
    wire->end = length;
    (void)wire_end_clear(wire, deadline);
}

/* Puts at most MOST bytes that were printed into a frame. Returns how many. */
static size_t wire_end_relay(struct wire_end *wire, int i, size_t most)
{
    ssize_t count =
        read(wire->prints[i], wire->pending + WIRE_HEAD_BYTES, size_min(most, INIT_PIECE_BYTES));

    if (count <= 0) {
        if (count == 0 || errno != EAGAIN)
            wire_end_stop_reading(wire, i);
        return 0;
    }
    wire_put_head(wire->pending, wire_end_types[i], (size_t)count);
    wire->begin = 0;
    wire->end = WIRE_HEAD_BYTES + (size_t)count;
    wire_end_send(wire);
    return (size_t)count;
}

void wire_end_watch(const struct wire_end *wire, struct pollfd watched[WIRE_END_WATCHED])
{
    const bool is_clear = wire_end_is_clear(wire);

    for (int i = 0; i < WIRE_END_OUTPUTS; i++)
        watched[i] = (struct pollfd){.fd = is_clear ? wire->prints[i] : -1, .events = POLLIN};
    watched[WIRE_END_OUTPUTS] = (struct pollfd){.fd = is_clear ? -1 : wire->out, .events = POLLOUT};
}

void wire_end_serve(struct wire_end *wire, const struct pollfd watched[WIRE_END_WATCHED])
{
    if (watched[WIRE_END_OUTPUTS].revents)
        wire_end_send(wire);
    for (int i = 0; i < WIRE_END_OUTPUTS; i++)
        if (watched[i].revents && wire->prints[i] >= 0 && wire_end_is_clear(wire))
            (void)wire_end_relay(wire, i, INIT_PIECE_BYTES);
}

/* What comes meanwhile is not waited for: a process that is still alive may print for ever. */
void wire_end_flush(struct wire_end *wire, double deadline)
{
    for (int i = 0; i < WIRE_END_OUTPUTS; i++) {
        int left = 0;

        if (wire->prints[i] < 0 || ioctl(wire->prints[i], FIONREAD, &left) < 0)
            continue;
        while (left > 0 && wire->prints[i] >= 0 && wire_end_clear(wire, deadline)) {
            const size_t count = wire_end_relay(wire, i, (size_t)left);

            left = count > 0 ? left - (int)count : 0;
        }
    }
}

void wire_end_say(struct wire_end *wire, enum init_frame type, double deadline)
{
    char head[WIRE_HEAD_BYTES];

    wire_put_head(head, type, 0);
    wire_end_write(wire, head, sizeof head, deadline);
}

void wire_end_say_words(struct wire_end *wire, enum init_frame type, const struct last_words *words,
                        double deadline)
{
    char frame[WIRE_HEAD_BYTES + LAST_WORDS_BYTES];

    wire_end_flush(wire, deadline);
    wire_put_head(frame, type, LAST_WORDS_BYTES);
    last_words_encode(words, frame + WIRE_HEAD_BYTES);
    wire_end_write(wire, frame, sizeof frame, deadline);
}

static bool wire_end_make_pipes(struct wire_end *wire)
{
    for (int i = 0; i < WIRE_END_OUTPUTS; i++) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
            return false;
        wire->prints[i] = ends[0];
        wire->theirs[i] = ends[1];
    }
    return true;
}

static void wire_end_take_socket(struct wire_end *wire, const char *path)
{
    struct streams streams;

    wire->out = streams_take(path, &streams);
    if (wire->out < 0)
        return;
    memcpy(wire->theirs, streams.outputs, sizeof wire->theirs);
    wire->tools = streams.tools;
}

bool wire_end_open(struct wire_end *wire, const char *path)
{
    *wire = (struct wire_end){.out = -1, .prints = {-1, -1}, .tools = -1};
    if (path)
        wire_end_take_socket(wire, path);
    if (wire->out < 0) {
        wire->out = STDOUT_FILENO;
        if (!wire_end_make_pipes(wire))
            return false;
        wire_end_write(wire, WIRE_HELLO, WIRE_HELLO_BYTES,
                       clock_seconds() + WIRE_END_HELLO_SECONDS);
    }
    return fcntl(wire->out, F_SETFL, O_NONBLOCK) == 0;
}
