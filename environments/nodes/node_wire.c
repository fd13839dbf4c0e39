#include "environments/nodes/node_wire.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODE_BEAT_SECONDS 5.

enum {
    NODE_SILENT_BEATS = 3, /* after which the other end is given up */
    NODE_READ_BYTES = 64 << 10,
    NODE_DRAIN_READS = 17,         /* one more than a pipe of 1 MiB holds */
    NODE_UNSENT_BYTES = 160 << 20, /* more than a request and its code */
    NODE_WIRE_WORD = 4,
    NODE_LINE_CHANNEL = 0x0a0a0a0a, /* of a ping: four newlines */
};

void node_wire_fail(struct node_wire *wire, const char *why)
{
    if (wire->is_over)
        return;
    wire->is_over = true;
    wire->why = why;
    ev_io_stop(wire->loop, &wire->reading);
    ev_io_stop(wire->loop, &wire->writing);
    ev_timer_stop(wire->loop, &wire->beat);
    ev_feed_event(wire->loop, &wire->beat, EV_CUSTOM);
}

static void node_wire_flush(struct node_wire *wire)
{
    while (buffer_length(&wire->unsent) > 0) {
        ssize_t count = write(wire->out, buffer_bytes(&wire->unsent), buffer_length(&wire->unsent));

        if (count < 0 && errno == EAGAIN) {
            ev_io_start(wire->loop, &wire->writing);
            return;
        }
        if (count < 0 && errno != EINTR) {
            buffer_consume(&wire->unsent, buffer_length(&wire->unsent));
            break; /* its end is read soon, behind its last words */
        }
        if (count > 0)
            buffer_consume(&wire->unsent, (size_t)count);
    }
    ev_io_stop(wire->loop, &wire->writing);
}

static void node_wire_on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct node_wire *wire = CONTAINER_OF(watcher, struct node_wire, writing);

    (void)loop;
    if (events & EV_ERROR)
        node_wire_fail(wire, "its input cannot be watched");
    else
        node_wire_flush(wire);
}

static void node_wire_append(struct node_wire *wire, const char *data, size_t length)
{
    struct error ignored = ERROR_INIT;

    if (wire->is_over || wire->out < 0)
        return;
    if (buffer_append(&wire->unsent, data, length, &ignored) < 0)
        node_wire_fail(wire, "it takes no more input");
}

void node_wire_greet(struct node_wire *wire)
{
    node_wire_append(wire, WIRE_HELLO, WIRE_HELLO_BYTES);
}

static void node_wire_append_frame(struct node_wire *wire, enum node_frame type, uint32_t channel,
                                   const char *data, size_t length)
{
    char head[WIRE_HEAD_BYTES + NODE_CHANNEL_BYTES];

    wire_put_head(head, type, NODE_CHANNEL_BYTES + length);
    wire_put(head + WIRE_HEAD_BYTES, channel, NODE_CHANNEL_BYTES);
    node_wire_append(wire, head, sizeof head);
    if (length > 0)
        node_wire_append(wire, data, length);
}

void node_wire_send(struct node_wire *wire, enum node_frame type, uint32_t channel,
                    const char *data, size_t length)
{
    node_wire_append_frame(wire, type, channel, data, length);
    if (wire->ends_lines && (length == 0 || data[length - 1] != '\n'))
        node_wire_append_frame(wire, NODE_PING, NODE_LINE_CHANNEL, NULL, 0);
    if (!wire->is_over && wire->out >= 0 && !ev_is_active(&wire->writing))
        node_wire_flush(wire);
}

void node_wire_tell(struct node_wire *wire, enum node_frame type, uint32_t channel, json_t *message)
{
    AUTO_FREE char *text = json_text(message);

    node_wire_send(wire, type, channel, text, strlen(text));
    json_decref(message);
}

void node_wire_give_credit(struct node_wire *wire, uint32_t channel, size_t length)
{
    char word[NODE_WIRE_WORD];

    wire_put(word, length, sizeof word);
    node_wire_send(wire, NODE_CREDIT, channel, word, sizeof word);
}

size_t node_wire_take_credit(const char *data)
{
    return (size_t)wire_take(&data, NODE_WIRE_WORD);
}

/* JSON is read as text, so each frame gets a NUL. */
static void node_wire_on_frame(struct wire_reader *reader, uint32_t type, const char *data,
                               size_t length)
{
    struct node_wire *wire = CONTAINER_OF(reader, struct node_wire, reader);
    const size_t rest = length - NODE_CHANNEL_BYTES;
    AUTO_FREE char *copy = NULL;
    uint32_t channel;

    if (wire->is_over || type == NODE_PING)
        return;
    channel = (uint32_t)wire_take(&data, NODE_CHANNEL_BYTES);
    copy = memory_new(rest + 1, 1);
    memcpy(copy, data, rest);
    wire->frame(wire, (enum node_frame)type, channel, copy, rest);
}

static void node_wire_on_foreign(struct wire_reader *reader, const char *data, size_t length)
{
    struct node_wire *wire = CONTAINER_OF(reader, struct node_wire, reader);

    if (wire->foreign)
        wire->foreign(wire, data, length);
    else
        node_wire_fail(wire, "it does not speak as a server does");
}

/* False when there is nothing to be read now. */
static bool node_wire_read(struct node_wire *wire, int events)
{
    char bytes[NODE_READ_BYTES];
    ssize_t count = events & EV_ERROR ? 0 : read(wire->in, bytes, sizeof bytes);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (count <= 0) {
        wire_reader_end(&wire->reader);
        node_wire_fail(wire, "");
        return false;
    }
    wire->silent = 0;
    wire_reader_feed(&wire->reader, bytes, (size_t)count);
    if (wire->reader.state == WIRE_BROKEN)
        node_wire_fail(wire, "it says what is no frame");
    return true;
}

static void node_wire_on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)node_wire_read(CONTAINER_OF(watcher, struct node_wire, reading), events);
}

void node_wire_drain(struct node_wire *wire)
{
    for (int i = 0; i < NODE_DRAIN_READS && !wire->is_over && wire->in >= 0; i++)
        if (!node_wire_read(wire, 0))
            break;
}

/* A process that was stopped has not heard what is there to be read. */
static void node_wire_on_beat(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct node_wire *wire = CONTAINER_OF(timer, struct node_wire, beat);

    (void)loop;
    (void)events;
    if (wire->is_over) {
        wire->ended(wire, wire->why);
        return;
    }
    if (++wire->silent >= NODE_SILENT_BEATS)
        node_wire_fail(wire, "nothing was heard of it for 15 seconds");
    else
        node_wire_send(wire, NODE_PING, 0, NULL, 0);
}

void node_wire_start_heart(struct node_wire *wire)
{
    wire->silent = 0;
    if (!wire->is_over)
        ev_timer_again(wire->loop, &wire->beat);
}

void node_wire_open(struct node_wire *wire, int in, int out)
{
    wire->in = in;
    wire->out = out;
    wire->reader = (struct wire_reader){
        .protocol = &node_protocol,
        .frame = node_wire_on_frame,
        .foreign = node_wire_on_foreign,
    };
    buffer_init(&wire->unsent, NODE_UNSENT_BYTES);
    ev_io_init(&wire->reading, node_wire_on_readable, in, EV_READ);
    ev_io_init(&wire->writing, node_wire_on_writable, out, EV_WRITE);
    ev_timer_init(&wire->beat, node_wire_on_beat, 0., NODE_BEAT_SECONDS);
    ev_io_start(wire->loop, &wire->reading);
}

void node_wire_close(struct node_wire *wire)
{
    if (wire->in < 0)
        return;
    ev_io_stop(wire->loop, &wire->reading);
    ev_io_stop(wire->loop, &wire->writing);
    ev_timer_stop(wire->loop, &wire->beat);
    ev_clear_pending(wire->loop, &wire->beat);
    close(STEAL_FD(wire->in));
    close(STEAL_FD(wire->out));
    buffer_deinit(&wire->unsent);
    wire_reader_deinit(&wire->reader);
}
