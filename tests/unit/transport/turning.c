#include "tests/unit/transport/turning.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define TICK_SECONDS 0.01

static void on_tick(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
}

void turn_once(struct ev_loop *loop)
{
    struct ev_timer tick;

    ev_now_update(loop);
    ev_timer_init(&tick, on_tick, TICK_SECONDS, 0);
    ev_timer_start(loop, &tick);
    ev_run(loop, EVRUN_ONCE);
    ev_timer_stop(loop, &tick);
}

void turn_for(struct ev_loop *loop, double seconds)
{
    ev_tstamp end = ev_time() + seconds;

    while (ev_time() < end)
        turn_once(loop);
}

void turn_with_failure(struct ev_loop *loop, struct ev_io *watcher)
{
    ev_io_stop(loop, watcher);
    ev_feed_event(loop, watcher, EV_ERROR | EV_READ | EV_WRITE);
    turn_once(loop);
}

static void keep(const char *piece, size_t count, char *text, size_t size, size_t *length)
{
    size_t room = *length + 1 < size ? size - *length - 1 : 0;

    memcpy(text + *length, piece, count < room ? count : room);
    *length += count < room ? count : room;
    text[*length] = '\0';
}

bool turning_read(int fd, char *text, size_t size, size_t *length)
{
    char piece[TURNING_PIECE];
    ssize_t count;

    while ((count = recv(fd, piece, sizeof(piece), MSG_DONTWAIT)) > 0)
        keep(piece, (size_t)count, text, size, length);
    return count < 0 && errno == EAGAIN;
}

void turn_until_closed(struct ev_loop *loop, int fd, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    TURN_UNTIL(loop, !turning_read(fd, text, size, &length));
}

void turn_until_received(struct ev_loop *loop, int fd, const char *wanted)
{
    size_t wanted_length = strlen(wanted);
    char text[TURNING_PIECE] = "";
    size_t length = 0;

    assert_true(wanted_length < sizeof(text));
    TURN_UNTIL(loop, !turning_read(fd, text, sizeof(text), &length) || length >= wanted_length);
    assert_string_equal(text, wanted);
}
