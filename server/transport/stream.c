#include "server/transport/stream.h"

#include "base/log.h"
#include "base/state.h"
#include "server/transport/socket/far_end.h"
#include "server/transport/socket/peer.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROBE_SECONDS        0.05 /* between checks whether the client is still there */
#define STREAM_HURRY_SECONDS 0.5  /* for output to be taken when the server ends */

enum { LABEL_BYTES = 32 };

/* Descriptors */

static ssize_t socket_read(int fd, void *data, size_t size)
{
    return recv(fd, data, size, MSG_DONTWAIT);
}

static ssize_t socket_write(int fd, struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};

    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t file_write(int fd, struct iovec *parts, int count)
{
    return writev(fd, parts, count);
}

static const struct stream_io socket_io = {socket_read, socket_write};
static const struct stream_io file_io = {read, file_write};

static const struct stream_io *io_for(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? &socket_io : &file_io;
}

static bool is_temporary(int number)
{
    return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

/* States */

static const char *stream_name(const struct stream_settings *settings)
{
    return settings->what ? settings->what : "connection";
}

static const struct state stream_states[] = {
    [STREAM_SERVING] = {"serving",
                        1 << STREAM_FINISHING | 1 << STREAM_FLUSHING | 1 << STREAM_CLOSED},
    [STREAM_FINISHING] = {"finishing", 1 << STREAM_FLUSHING | 1 << STREAM_CLOSED},
    [STREAM_FLUSHING] = {"flushing", 1 << STREAM_CLOSED},
    [STREAM_CLOSED] = {"closed", 0},
};

static void stream_set_state(struct stream *stream, enum stream_state state)
{
    enum stream_state before = stream->state;

    assert(stream_states[before].next & 1U << state);
    log_debug("%s %s -> %s number=%u", stream_name(&stream->settings), stream_states[before].name,
              stream_states[state].name, stream->settings.number);
    stream->state = state;
    if (before == STREAM_SERVING)
        stream->settings.leaving(stream);
}

static bool is_congested(const struct stream *stream)
{
    return buffer_length(&stream->unsent) >= stream->settings.limits->unsent_bytes;
}

static void stream_watch_io(struct ev_loop *loop, struct ev_io *watcher, bool wanted)
{
    if (wanted)
        ev_io_start(loop, watcher);
    else
        ev_io_stop(loop, watcher);
}

/* Starts and stops the watchers as the state needs them, and tells the session whether the client
 * reads. */
static void stream_rearm(struct stream *stream)
{
    struct ev_loop *loop = stream->settings.loop;
    bool has_unsent = buffer_length(&stream->unsent) > 0;
    bool congested = is_congested(stream);

    stream_watch_io(loop, &stream->readable, stream->state == STREAM_SERVING && !congested);
    stream_watch_io(loop, &stream->writable, has_unsent);
    if (!has_unsent)
        ev_timer_stop(loop, &stream->stall);
    else if (!ev_is_active(&stream->stall))
        ev_timer_again(loop, &stream->stall);
    if (stream->state < STREAM_FLUSHING)
        session_set_slow(&stream->session, congested);
}

static void stream_stop_watchers(struct stream *stream)
{
    struct ev_loop *loop = stream->settings.loop;

    ev_io_stop(loop, &stream->readable);
    ev_io_stop(loop, &stream->writable);
    ev_timer_stop(loop, &stream->stall);
    ev_timer_stop(loop, &stream->probe);
    ev_timer_stop(loop, &stream->deadline);
}

static void close_because(struct stream *stream, const char *reason)
{
    if (stream->state == STREAM_CLOSED)
        return;
    stream_stop_watchers(stream);
    log_info("%s closed number=%u reason=\"%s\"", stream_name(&stream->settings),
             stream->settings.number, reason);
    stream_set_state(stream, STREAM_CLOSED);
}

static void set_deadline(struct stream *stream, double seconds)
{
    ev_timer_stop(stream->settings.loop, &stream->deadline);
    if (seconds <= 0)
        return;
    ev_timer_set(&stream->deadline, seconds, 0);
    ev_timer_start(stream->settings.loop, &stream->deadline);
}

/* Calls that still run are cancelled. SECONDS: for the client to take its output; 0: while it takes
 * any. */
static void begin_flushing(struct stream *stream, double seconds)
{
    session_deinit(&stream->session);
    ev_timer_stop(stream->settings.loop, &stream->probe);
    set_deadline(stream, seconds);
    stream_set_state(stream, STREAM_FLUSHING);
    stream_rearm(stream);
}

/* True when nobody can receive any more, as opposed to a client that has only ended its input. */
static bool has_vanished(const struct stream *stream)
{
    struct pollfd out = {.fd = stream->settings.out};

    if (poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP))
        return true;
    return far_end_is_closed(stream->settings.out);
}

static void begin_finishing(struct stream *stream)
{
    if (has_vanished(stream)) {
        close_because(stream, "the client is gone");
        return;
    }
    ev_timer_again(stream->settings.loop, &stream->probe);
    set_deadline(stream, stream->settings.grace_seconds);
    stream_set_state(stream, STREAM_FINISHING);
    session_conclude(&stream->session);
}

/* Out */

/* Bytes written, 0 when the client takes none now or is gone. */
static size_t stream_write_parts(struct stream *stream, struct iovec *parts, int count)
{
    ssize_t written = stream->output->write(stream->settings.out, parts, count);

    if (written >= 0)
        return (size_t)written;
    if (!is_temporary(errno))
        close_because(stream, "the client is gone");
    return 0;
}

/* Keeps the bytes of PARTS behind the first WRITTEN. */
static int stream_keep_rest(struct stream *stream, const struct iovec *parts, int count,
                            size_t written)
{
    struct error err = ERROR_INIT;

    for (int i = 0; i < count; i++) {
        size_t done = written < parts[i].iov_len ? written : parts[i].iov_len;

        written -= done;
        if (buffer_append(&stream->unsent, (const char *)parts[i].iov_base + done,
                          parts[i].iov_len - done, &err) < 0)
            return -1;
    }
    return 0;
}

static void stream_on_send(struct sink *sink, const char *text, size_t length, bool last,
                           enum error_code code)
{
    struct stream *stream = CONTAINER_OF(sink, struct stream, sink);
    struct iovec parts[] = {{(char *)text, length}, {(char *)"\n", 1}};
    size_t written = 0;

    (void)last;
    (void)code;
    if (stream->state == STREAM_CLOSED)
        return;
    if (buffer_length(&stream->unsent) == 0)
        written = stream_write_parts(stream, parts, 2);
    if (stream->state == STREAM_CLOSED)
        return;
    if (stream_keep_rest(stream, parts, 2, written) < 0)
        close_because(stream, "too much output not taken");
    else
        stream_rearm(stream);
}

/* Answers to other calls and pings go the same way. Messages that can wait do not queue ahead of
 * them. */
static bool stream_has_room(const struct sink *sink)
{
    return buffer_length(&CONTAINER_OF(sink, const struct stream, sink)->unsent) == 0;
}

/* In */

/* A client that sends more than it may is closed. */
static bool stream_has_said_enough(struct stream *stream)
{
    const struct stream_settings *settings = &stream->settings;

    if (settings->messages == 0)
        return false;
    if (stream->served <= settings->messages && stream->received <= settings->bytes)
        return false;
    close_because(stream, "it has sent too much");
    return true;
}

/* Serves lines until none is left or too much output is unsent. */
static void serve_lines(struct stream *stream)
{
    size_t length = 0;
    char *line = NULL;

    while (stream->state == STREAM_SERVING && !is_congested(stream)) {
        if (stream_has_said_enough(stream))
            return;
        switch (line_reader_next(&stream->reader, &line, &length)) {
        case LINE_COMPLETE:
            stream->served++;
            session_receive(&stream->session, line, length);
            break;
        case LINE_TOO_LONG:
            stream->served++;
            session_refuse_line(&stream->session, stream->reader.limit);
            break;
        case LINE_NONE:
            if (stream->reader.ended)
                begin_finishing(stream);
            return;
        }
    }
}

static void stream_advance(struct stream *stream)
{
    serve_lines(stream);
    if (stream->state != STREAM_CLOSED)
        stream_rearm(stream);
}

static void stream_on_readable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
    struct stream *stream = CONTAINER_OF(watcher, struct stream, readable);
    char *room = line_reader_reserve(&stream->reader);
    ssize_t length;

    (void)loop;
    if (events & EV_ERROR) {
        close_because(stream, "the connection cannot be watched");
        return;
    }
    length = stream->input->read(stream->settings.in, room, LINE_READER_ROOM);
    if (length < 0) {
        if (!is_temporary(errno))
            close_because(stream, "the client is gone");
        return;
    }
    if (length == 0)
        line_reader_end(&stream->reader);
    else
        line_reader_commit(&stream->reader, (size_t)length);
    stream->received += (size_t)length;
    stream_advance(stream);
}

static void stream_on_writable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
    struct stream *stream = CONTAINER_OF(watcher, struct stream, writable);
    struct iovec part = {buffer_bytes(&stream->unsent), buffer_length(&stream->unsent)};
    size_t written;

    if (events & EV_ERROR) {
        close_because(stream, "the connection cannot be watched");
        return;
    }
    written = stream_write_parts(stream, &part, 1);
    if (written == 0)
        return;
    buffer_consume(&stream->unsent, written);
    ev_timer_again(loop, &stream->stall);
    stream_advance(stream);
}

/* Time */

static void stream_on_stall(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct stream *stream = CONTAINER_OF(timer, struct stream, stall);

    (void)loop;
    (void)events;
    close_because(stream, "the client takes no output");
}

static void stream_on_probe(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct stream *stream = CONTAINER_OF(timer, struct stream, probe);

    (void)loop;
    (void)events;
    if (has_vanished(stream))
        close_because(stream, "the client is gone");
}

static void stream_on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct stream *stream = CONTAINER_OF(timer, struct stream, deadline);

    (void)loop;
    (void)events;
    if (stream->state == STREAM_FINISHING)
        begin_flushing(stream, STREAM_HURRY_SECONDS);
    else
        close_because(stream, "the client took its output too slowly");
}

/* The stream itself */

void stream_init(struct stream *stream, const struct stream_settings *settings)
{
    char label[LABEL_BYTES];

    *stream = (struct stream){
        .sink = {.send = stream_on_send, .has_room = stream_has_room},
        .settings = *settings,
        .input = io_for(settings->in),
        .output = io_for(settings->out),
    };
    stream->settings.principal = NULL;
    line_reader_init(&stream->reader, settings->limits->line_bytes);
    buffer_init(&stream->unsent, settings->limits->unsent_bytes + STREAM_OVERRUN_BYTES);
    ev_io_init(&stream->readable, stream_on_readable, settings->in, EV_READ);
    ev_io_init(&stream->writable, stream_on_writable, settings->out, EV_WRITE);
    ev_timer_init(&stream->stall, stream_on_stall, 0, settings->limits->stall_seconds);
    ev_timer_init(&stream->probe, stream_on_probe, 0, PROBE_SECONDS);
    ev_timer_init(&stream->deadline, stream_on_deadline, 0, 0);
    snprintf(label, sizeof label, "%s-%u", stream_name(settings), settings->number);
    session_init(&stream->session, settings->server,
                 &(struct mcp_peer_settings){.principal = settings->principal,
                                             .label = label,
                                             .anonymous = peer_is_anonymous(settings->principal),
                                             .lasting = true,
                                             .is_local = settings->is_local},
                 &stream->sink);
    stream_rearm(stream);
}

void stream_deinit(struct stream *stream)
{
    stream_stop_watchers(stream);
    session_deinit(&stream->session);
    line_reader_deinit(&stream->reader);
    buffer_deinit(&stream->unsent);
    close(stream->settings.in);
    if (stream->settings.out != stream->settings.in)
        close(stream->settings.out);
}

void stream_receive(struct stream *stream, const char *bytes, size_t length)
{
    memcpy(line_reader_reserve(&stream->reader), bytes, length);
    line_reader_commit(&stream->reader, length);
    stream_advance(stream);
}

void stream_stop(struct stream *stream)
{
    if (stream->state < STREAM_FLUSHING)
        session_conclude(&stream->session);
    if (stream->state < STREAM_FLUSHING)
        begin_flushing(stream, STREAM_HURRY_SECONDS);
    else if (stream->state == STREAM_FLUSHING)
        set_deadline(stream, STREAM_HURRY_SECONDS);
}

bool stream_settle(struct stream *stream)
{
    if (stream->state == STREAM_FINISHING && session_is_idle(&stream->session))
        begin_flushing(stream, stream->settings.grace_seconds > 0 ? STREAM_HURRY_SECONDS : 0);
    if (stream->state == STREAM_FLUSHING && buffer_length(&stream->unsent) == 0)
        close_because(stream, "done");
    return stream->state == STREAM_CLOSED;
}
