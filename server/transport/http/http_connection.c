#include "server/transport/http/http_connection.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/state.h"
#include "server/transport/http/http_connection_private.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define HTTP_CONNECTION_HURRY_SECONDS 0.5 /* for output to be taken when the server ends */

enum { READ_BYTES = 32 * 1024 }; /* at once */

enum { ALWAYS = 1 << HTTP_CONNECTION_STOPPING | 1 << HTTP_CONNECTION_CLOSED };

static const struct state http_connection_states[] = {
    [HTTP_CONNECTION_IDLE] = {"idle",
                              ALWAYS | 1 << HTTP_CONNECTION_HEAD | 1 << HTTP_CONNECTION_FINISHING},
    [HTTP_CONNECTION_HEAD] = {"head",
                              ALWAYS | 1 << HTTP_CONNECTION_BODY | 1 << HTTP_CONNECTION_FINISHING},
    [HTTP_CONNECTION_BODY] = {"body", ALWAYS | 1 << HTTP_CONNECTION_REST |
                                          1 << HTTP_CONNECTION_RESPONSE |
                                          1 << HTTP_CONNECTION_FLUSHING},
    [HTTP_CONNECTION_REST] = {"rest",
                              ALWAYS | 1 << HTTP_CONNECTION_IDLE | 1 << HTTP_CONNECTION_HEAD},
    [HTTP_CONNECTION_RESPONSE] = {"response", ALWAYS | 1 << HTTP_CONNECTION_IDLE |
                                                  1 << HTTP_CONNECTION_HEAD |
                                                  1 << HTTP_CONNECTION_FLUSHING},
    [HTTP_CONNECTION_FLUSHING] = {"flushing", ALWAYS | 1 << HTTP_CONNECTION_FINISHING |
                                                  1 << HTTP_CONNECTION_LINGERING},
    [HTTP_CONNECTION_FINISHING] = {"finishing", 1 << HTTP_CONNECTION_CLOSED},
    [HTTP_CONNECTION_LINGERING] = {"lingering", 1 << HTTP_CONNECTION_CLOSED},
    [HTTP_CONNECTION_STOPPING] = {"stopping", 1 << HTTP_CONNECTION_CLOSED},
    [HTTP_CONNECTION_CLOSED] = {"closed", 0},
};

static const struct http_limits *limits_of(const struct http_connection *connection)
{
    return connection->settings.limits;
}

/* The client's time limit in STATE. */
static double seconds_in(const struct http_connection *connection, enum http_connection_state state)
{
    switch (state) {
    case HTTP_CONNECTION_IDLE:
        return limits_of(connection)->idle_seconds;
    case HTTP_CONNECTION_HEAD:
        return limits_of(connection)->head_seconds;
    case HTTP_CONNECTION_BODY:
    case HTTP_CONNECTION_REST:
        return limits_of(connection)->body_grace_seconds;
    case HTTP_CONNECTION_LINGERING:
        return limits_of(connection)->linger_seconds;
    case HTTP_CONNECTION_STOPPING:
        return HTTP_CONNECTION_HURRY_SECONDS;
    case HTTP_CONNECTION_RESPONSE:
    case HTTP_CONNECTION_FLUSHING:
    case HTTP_CONNECTION_FINISHING:
    case HTTP_CONNECTION_CLOSED:
        break;
    }
    return INFINITY;
}

void http_connection_set_state(struct http_connection *connection, enum http_connection_state state)
{
    assert(http_connection_states[connection->state].next & 1U << state);
    log_debug("connection %s -> %s number=%u", http_connection_states[connection->state].name,
              http_connection_states[state].name, connection->settings.number);
    connection->state = state;
    if (state == HTTP_CONNECTION_REST)
        return; /* the limit of BODY still holds */
    if (state == HTTP_CONNECTION_BODY)
        connection->body_since = clock_seconds();
    connection->read_by = clock_seconds() + seconds_in(connection, state);
}

/* Watching */

bool http_connection_is_congested(const struct http_connection *connection)
{
    return http_writer_unsent(&connection->writer) >= limits_of(connection)->congested_bytes;
}

static bool wants_input(const struct http_connection *connection)
{
    bool has_room = buffer_length(&connection->input) < limits_of(connection)->read_ahead_bytes;

    switch (connection->state) {
    case HTTP_CONNECTION_IDLE:
    case HTTP_CONNECTION_HEAD:
        return has_room && !http_connection_is_congested(connection);
    case HTTP_CONNECTION_BODY:
    case HTTP_CONNECTION_REST:
    case HTTP_CONNECTION_RESPONSE:
        return has_room;
    case HTTP_CONNECTION_FLUSHING:
    case HTTP_CONNECTION_LINGERING:
    case HTTP_CONNECTION_STOPPING:
        return true;
    case HTTP_CONNECTION_FINISHING:
    case HTTP_CONNECTION_CLOSED:
        break;
    }
    return false;
}

static void http_connection_watch_io(struct ev_loop *loop, struct ev_io *watcher, bool wanted)
{
    if (wanted)
        ev_io_start(loop, watcher);
    else
        ev_io_stop(loop, watcher);
}

void http_connection_resume_soon(struct http_connection *connection)
{
    ev_timer_start(connection->settings.loop, &connection->resume);
}

/* A later deadline needs no new timer: it is looked at when the timer ends. */
static void arm_timer(struct http_connection *connection)
{
    struct ev_loop *loop = connection->settings.loop;
    double at = fmin(connection->read_by, fmin(connection->take_by, connection->comment_at));
    double now;

    if (at >= connection->timer_at)
        return;
    now = clock_seconds();
    ev_timer_stop(loop, &connection->timer);
    ev_timer_set(&connection->timer, at > now ? at - now : 0, 0);
    ev_timer_start(loop, &connection->timer);
    connection->timer_at = at;
}

void http_connection_rearm(struct http_connection *connection)
{
    struct ev_loop *loop = connection->settings.loop;
    const struct http_channel *channel = connection->settings.channel;
    bool wants = wants_input(connection);

    if (connection->state == HTTP_CONNECTION_CLOSED)
        return;
    http_connection_watch_io(loop, &connection->readable, wants);
    http_connection_watch_io(loop, &connection->writable,
                             http_writer_unsent(&connection->writer) > 0 ||
                                 (wants && channel->reads_on_write));
    if (wants && channel->has_pending)
        http_connection_resume_soon(connection);
    arm_timer(connection);
}

/* The end */

static void http_connection_stop_watchers(struct http_connection *connection)
{
    struct ev_loop *loop = connection->settings.loop;

    ev_io_stop(loop, &connection->readable);
    ev_io_stop(loop, &connection->writable);
    ev_timer_stop(loop, &connection->timer);
    ev_timer_stop(loop, &connection->resume);
}

void http_connection_close(struct http_connection *connection, const char *reason)
{
    if (connection->state == HTTP_CONNECTION_CLOSED)
        return;
    http_connection_stop_watchers(connection);
    http_connection_set_state(connection, HTTP_CONNECTION_CLOSED);
    log_info("connection closed number=%u reason=\"%s\"", connection->settings.number, reason);
    connection->settings.closed(connection);
}

void http_connection_forsake(struct http_connection *connection)
{
    struct http_service *service = connection->settings.service;

    if (!connection->exchange.is_told)
        return;
    connection->exchange.is_told = false;
    service->gone(service, &connection->exchange);
}

/* Shuts the connection down once the client has taken all output. */
static void end_output(struct http_connection *connection)
{
    struct http_channel *channel = connection->settings.channel;

    if (http_writer_unsent(&connection->writer) > 0)
        return;
    if (connection->state == HTTP_CONNECTION_FINISHING) {
        http_connection_close(connection, "done");
    } else if (connection->state == HTTP_CONNECTION_FLUSHING) {
        channel->ops->shutdown(channel);
        http_connection_set_state(connection, HTTP_CONNECTION_LINGERING);
    }
}

void http_connection_end(struct http_connection *connection, enum http_connection_state state)
{
    http_connection_set_state(connection, state);
    connection->comment_at = INFINITY;
    buffer_deinit(&connection->input);
    end_output(connection);
}

/* In */

/* BYTES are wiped: there may be a token in them. */
static void http_connection_receive(struct http_connection *connection, char *bytes, size_t length)
{
    struct error err = ERROR_INIT;

    if (connection->state >= HTTP_CONNECTION_FLUSHING) {
        connection->dropped += length;
        if (connection->dropped > limits_of(connection)->linger_bytes)
            http_connection_close(connection, "the client keeps sending");
        return;
    }
    if (buffer_append(&connection->input, bytes, length, &err) < 0)
        http_connection_close(connection, err.message);
    explicit_bzero(bytes, length);
    http_intake_advance(connection);
}

static void receive_end(struct http_connection *connection)
{
    switch (connection->state) {
    case HTTP_CONNECTION_IDLE:
    case HTTP_CONNECTION_HEAD:
        http_connection_end(connection, HTTP_CONNECTION_FINISHING);
        break;
    case HTTP_CONNECTION_FLUSHING:
        http_connection_set_state(connection, HTTP_CONNECTION_FINISHING);
        break;
    case HTTP_CONNECTION_LINGERING:
    case HTTP_CONNECTION_STOPPING:
        http_connection_close(connection, "done");
        break;
    case HTTP_CONNECTION_BODY:
    case HTTP_CONNECTION_REST:
    case HTTP_CONNECTION_RESPONSE:
        http_connection_close(connection, "the client is gone");
        break;
    case HTTP_CONNECTION_FINISHING:
    case HTTP_CONNECTION_CLOSED:
        break;
    }
    http_connection_rearm(connection);
}

static void http_connection_read_some(struct http_connection *connection)
{
    struct http_channel *channel = connection->settings.channel;
    char bytes[READ_BYTES];
    ssize_t length = channel->ops->read(channel, bytes, sizeof bytes);

    if (length > 0)
        http_connection_receive(connection, bytes, (size_t)length);
    else if (length == 0)
        receive_end(connection);
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        http_connection_close(connection, "the client is gone");
    else
        http_connection_rearm(connection);
}

static void http_connection_on_readable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
    struct http_connection *connection = CONTAINER_OF(watcher, struct http_connection, readable);

    (void)loop;
    if (events & EV_ERROR)
        http_connection_close(connection, "the connection cannot be watched");
    else
        http_connection_read_some(connection);
}

static void http_connection_on_resume(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct http_connection *connection = CONTAINER_OF(timer, struct http_connection, resume);

    (void)loop;
    (void)events;
    if (connection->settings.channel->has_pending && wants_input(connection))
        http_connection_read_some(connection);
    else
        http_intake_advance(connection);
}

/* Out */

void http_connection_sent(struct http_connection *connection)
{
    struct http_writer *writer = &connection->writer;

    if (writer->problem) {
        http_connection_close(connection, writer->problem);
        return;
    }
    if (http_writer_unsent(writer) == 0)
        connection->take_by = INFINITY;
    else if (connection->take_by == INFINITY)
        connection->take_by = clock_seconds() + limits_of(connection)->stall_seconds;
    http_connection_rearm(connection);
}

static void tell_drained(struct http_connection *connection)
{
    struct http_service *service = connection->settings.service;

    if (!connection->is_congested ||
        http_writer_unsent(&connection->writer) > limits_of(connection)->congested_bytes / 2)
        return;
    connection->is_congested = false;
    if (service->drained && connection->exchange.is_told)
        service->drained(service, &connection->exchange);
}

static void http_connection_on_writable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
    struct http_connection *connection = CONTAINER_OF(watcher, struct http_connection, writable);

    (void)loop;
    if (events & EV_ERROR) {
        http_connection_close(connection, "the connection cannot be watched");
        return;
    }
    if (connection->settings.channel->reads_on_write) {
        http_connection_read_some(connection);
        return;
    }
    if (http_writer_flush(&connection->writer))
        connection->take_by = INFINITY;
    http_connection_sent(connection);
    if (connection->state == HTTP_CONNECTION_CLOSED)
        return;
    tell_drained(connection);
    end_output(connection);
    http_intake_advance(connection);
}

/* Time */

static void http_connection_on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct http_connection *connection = CONTAINER_OF(timer, struct http_connection, timer);
    double now = clock_seconds();

    (void)loop;
    (void)events;
    connection->timer_at = INFINITY;
    if (now >= connection->take_by)
        http_connection_close(connection, "the client takes no output");
    else if (now >= connection->read_by)
        http_intake_judge(connection, now);
    else if (now >= connection->comment_at)
        http_stream_comment(&connection->exchange);
    http_connection_rearm(connection);
}

/* The connection itself */

void http_connection_init(struct http_connection *connection,
                          const struct http_connection_settings *settings)
{
    const struct http_limits *limits = settings->limits;

    *connection = (struct http_connection){
        .state = HTTP_CONNECTION_HEAD,
        .settings = *settings,
        .read_by = clock_seconds() + limits->head_seconds,
        .take_by = INFINITY,
        .comment_at = INFINITY,
        .timer_at = INFINITY,
    };
    buffer_init(&connection->input, limits->read_ahead_bytes + READ_BYTES);
    buffer_init(&connection->head_text, HTTP_HEAD_BYTES);
    http_body_init(&connection->body);
    http_writer_init(&connection->writer, settings->channel, limits->unsent_bytes);
    ev_io_init(&connection->readable, http_connection_on_readable, settings->channel->fd, EV_READ);
    ev_io_init(&connection->writable, http_connection_on_writable, settings->channel->fd, EV_WRITE);
    ev_timer_init(&connection->timer, http_connection_on_timer, 0, 0);
    ev_timer_init(&connection->resume, http_connection_on_resume, 0, 0);
    http_connection_rearm(connection);
}

void http_connection_deinit(struct http_connection *connection)
{
    struct http_channel *channel = connection->settings.channel;

    http_connection_stop_watchers(connection);
    if (connection->state != HTTP_CONNECTION_CLOSED)
        http_connection_set_state(connection, HTTP_CONNECTION_CLOSED);
    http_connection_forsake(connection);
    http_body_deinit(&connection->body);
    http_writer_deinit(&connection->writer);
    buffer_deinit(&connection->head_text);
    buffer_deinit(&connection->input);
    channel->ops->free(channel);
}

/* Gives the client a moment to take its output. */
static void hurry(struct http_connection *connection)
{
    if (connection->state < HTTP_CONNECTION_FINISHING)
        http_connection_end(connection, HTTP_CONNECTION_STOPPING);
    else
        connection->read_by = clock_seconds() + HTTP_CONNECTION_HURRY_SECONDS;
    http_connection_rearm(connection);
}

void http_connection_stop(struct http_connection *connection)
{
    connection->is_last = true;
    if (connection->state == HTTP_CONNECTION_CLOSED)
        return;
    /* A replica that gets no answer tells its client so, with the id of the request. */
    if (connection->exchange.is_told && !connection->exchange.is_stream &&
        !connection->is_forwarded)
        http_intake_reject(connection, 503, "The server is stopping");
    http_connection_forsake(connection);
    if (http_writer_unsent(&connection->writer) == 0)
        http_connection_close(connection, "the server stops");
    else if (connection->state != HTTP_CONNECTION_CLOSED)
        hurry(connection);
}
