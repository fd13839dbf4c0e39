#include "environments/egress/helper/relay.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { RELAY_BYTES = 16 * 1024, RELAY_IDLE_MILLISECONDS = 300 * 1000 };

/* One direction. */
struct relay_way {
    int from;
    int to;
    char bytes[RELAY_BYTES]; /* read and not yet sent */
    size_t length;
    bool has_ended;  /* FROM sends no more */
    bool is_through; /* and TO has been shut down */
};

struct relay {
    struct relay_way out;
    struct relay_way in;
};

static bool relay_is_passing(ssize_t result)
{
    return result < 0 && (errno == EAGAIN || errno == EINTR);
}

bool relay_send(int fd, const char *bytes, size_t length, double deadline)
{
    while (length > 0) {
        struct pollfd writable = {.fd = fd, .events = POLLOUT};
        double left = deadline - clock_seconds();
        ssize_t count;

        if (left <= 0 || poll(&writable, 1, (int)(left * 1e3) + 1) <= 0)
            return false;
        count = send(fd, bytes, length, MSG_NOSIGNAL);
        if (count < 0 && !relay_is_passing(count))
            return false;
        bytes += count > 0 ? count : 0;
        length -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

static bool relay_way_read(struct relay_way *way)
{
    ssize_t count;

    if (way->has_ended || way->length > 0)
        return true;
    count = recv(way->from, way->bytes, sizeof way->bytes, 0);
    if (count < 0)
        return relay_is_passing(count);
    way->length = (size_t)count;
    way->has_ended = count == 0;
    return true;
}

static bool relay_way_write(struct relay_way *way)
{
    ssize_t count;

    if (way->length > 0) {
        count = send(way->to, way->bytes, way->length, MSG_NOSIGNAL);
        if (count < 0)
            return relay_is_passing(count);
        way->length -= (size_t)count;
        memmove(way->bytes, way->bytes + count, way->length);
    }
    if (way->has_ended && way->length == 0 && !way->is_through) {
        shutdown(way->to, SHUT_WR);
        way->is_through = true;
    }
    return true;
}

static bool relay_way_move(struct relay_way *way)
{
    return relay_way_read(way) && relay_way_write(way);
}

/* Sets the events for which the two descriptors of WAY are watched. */
static void relay_way_watch(const struct relay_way *way, struct pollfd *from, struct pollfd *to)
{
    if (way->length > 0)
        to->events |= POLLOUT;
    else if (!way->has_ended)
        from->events |= POLLIN;
}

/* A side without events is not watched: if it has gone, poll(2) would always return at once. */
static bool relay_wait(const struct relay *relay)
{
    struct pollfd sides[] = {{.fd = relay->out.from}, {.fd = relay->out.to}};

    relay_way_watch(&relay->out, &sides[0], &sides[1]);
    relay_way_watch(&relay->in, &sides[1], &sides[0]);
    for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
        if (!sides[i].events)
            sides[i].fd = -1;
    return poll(sides, ARRAY_SIZE(sides), RELAY_IDLE_MILLISECONDS) > 0;
}

static void relay_go(struct relay *relay)
{
    while (relay_way_move(&relay->out) && relay_way_move(&relay->in) &&
           !(relay->out.is_through && relay->in.is_through) && relay_wait(relay))
        ;
}

void relay_answer(int near, int far)
{
    struct relay *relay = NEW(struct relay);

    relay->out = (struct relay_way){.from = near, .to = far, .has_ended = true, .is_through = true};
    relay->in.from = far;
    relay->in.to = near;
    relay_go(relay);
    free(relay);
}

void relay_run(int near, int far, const char *first, size_t length)
{
    struct relay *relay = NEW(struct relay);

    relay->out.from = relay->in.to = near;
    relay->out.to = relay->in.from = far;
    relay->out.length = size_min(length, sizeof relay->out.bytes);
    memcpy(relay->out.bytes, first, relay->out.length);
    relay_go(relay);
    free(relay);
}
