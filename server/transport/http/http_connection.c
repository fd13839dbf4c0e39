#include "server/transport/http/http_connection.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define HTTP_CONNECTION_HURRY_SECONDS 0.5 /* for output to be taken when the server ends */

enum {
    READ_BYTES = 32 * 1024,  /* at once */
    STEPS_AT_ONCE = 16,      /* heads and bodies of early requests; then others have their turn */
    CHECKS_IN_GRACE = 5,     /* how often the rate of a body is looked at */
    REJECTION_CODE = -32600, /* JSON-RPC: invalid request */
};

/* Watching */

static const struct http_limits *limits_of(const struct http_connection *connection)
{
    return connection->settings.limits;
}

static bool has_congestion(const struct http_connection *connection)
{
    return http_writer_unsent(&connection->writer) >= limits_of(connection)->congested_bytes;
}

static bool wants_input(const struct http_connection *connection)
{
    bool has_room = buffer_length(&connection->input) < limits_of(connection)->read_ahead_bytes;

    switch (connection->state) {
    case HTTP_CONNECTION_HEAD:
        return has_room && !has_congestion(connection);
    case HTTP_CONNECTION_BODY:
    case HTTP_CONNECTION_RESPONSE:
        return has_room;
    case HTTP_CONNECTION_LINGERING:
        return !connection->is_ended;
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

static void resume_soon(struct http_connection *connection)
{
    ev_timer_start(connection->settings.loop, &connection->resume);
}

/* A deadline that moves away is noticed when the timer ends. */
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

/* Makes the watchers fit what the connection waits for. */
static void http_connection_rearm(struct http_connection *connection)
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
        resume_soon(connection);
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
    connection->state = HTTP_CONNECTION_CLOSED;
    log_info("connection closed number=%u reason=\"%s\"", connection->settings.number, reason);
    connection->settings.closed(connection);
}

/* Takes the response out of the service's hands, if it is there. */
static void http_connection_forsake(struct http_connection *connection)
{
    struct http_service *service = connection->settings.service;

    if (!connection->exchange.is_told)
        return;
    connection->exchange.is_told = false;
    service->gone(service, &connection->exchange);
}

/* Lets the client know that nothing follows, once it has all there is. */
static void go_on_lingering(struct http_connection *connection)
{
    struct http_channel *channel = connection->settings.channel;

    if (http_writer_unsent(&connection->writer) > 0 || connection->read_by < INFINITY)
        return;
    if (connection->is_ended) {
        http_connection_close(connection, "done");
        return;
    }
    channel->ops->shutdown(channel);
    connection->read_by = clock_seconds() + limits_of(connection)->linger_seconds;
}

static void begin_lingering(struct http_connection *connection)
{
    connection->state = HTTP_CONNECTION_LINGERING;
    connection->read_by = INFINITY;
    connection->comment_at = INFINITY;
    buffer_deinit(&connection->input);
    go_on_lingering(connection);
}

/* From request to request */

static void begin_exchange(struct http_connection *connection)
{
    struct http_exchange *exchange = &connection->exchange;

    exchange->peer = connection->settings.peer;
    exchange->entrance = connection->settings.entrance;
    exchange->body_limit = limits_of(connection)->body_bytes;
    exchange->body = NULL;
    exchange->body_length = 0;
    exchange->data = NULL;
    exchange->is_told = false;
    exchange->is_stream = false;
    exchange->is_complete = false;
    connection->is_congested = false;
}

/* Request and response are behind us. */
static void end_exchange(struct http_connection *connection)
{
    const struct http_limits *limits = limits_of(connection);
    bool has_more = buffer_length(&connection->input) > 0;

    http_body_clear(&connection->body);
    connection->comment_at = INFINITY;
    if (connection->is_last) {
        begin_lingering(connection);
        return;
    }
    connection->state = HTTP_CONNECTION_HEAD;
    connection->scanned = 0;
    connection->is_begun = has_more;
    connection->read_by =
        clock_seconds() + (has_more ? limits->head_seconds : limits->idle_seconds);
    if (has_more)
        resume_soon(connection);
}

void http_connection_responded(struct http_connection *connection)
{
    connection->exchange.is_told = false;
    connection->exchange.is_complete = true;
    if (connection->state == HTTP_CONNECTION_RESPONSE || connection->is_last)
        end_exchange(connection);
    else if (connection->state == HTTP_CONNECTION_BODY)
        http_body_drop(&connection->body);
    http_connection_sent(connection);
}

/* Without the rest of the body, which is short enough to be waited for, and will come. */
bool http_connection_can_stay(const struct http_connection *connection)
{
    const struct http_head *head = &connection->exchange.head;

    if (!head->keep_alive || connection->is_last)
        return false;
    return connection->state == HTTP_CONNECTION_RESPONSE ||
           (!head->is_chunked && !head->expects_continue &&
            head->content_length <= limits_of(connection)->read_ahead_bytes);
}

/* What we find wrong ourselves; nothing is understood of what follows. */
static void http_connection_reject(struct http_connection *connection, unsigned status,
                                   const char *problem)
{
    bool has_response = connection->exchange.is_stream || connection->exchange.is_complete;

    http_connection_forsake(connection);
    if (has_response) {
        http_connection_close(connection, problem);
        return;
    }
    connection->is_last = true;
    log_info("a request was refused number=%u status=%u reason=\"%s\"", connection->settings.number,
             status, problem);
    http_refuse(&connection->exchange, status, "", REJECTION_CODE, problem);
}

/* In */

static void send_continue(struct http_connection *connection)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct iovec part = {(char *)text, strlen(text)};

    http_writer_send(&connection->writer, &part, 1);
}

static void http_connection_request(struct http_connection *connection)
{
    struct http_service *service = connection->settings.service;
    struct http_exchange *exchange = &connection->exchange;

    connection->state = HTTP_CONNECTION_RESPONSE;
    connection->read_by = INFINITY;
    exchange->body = buffer_bytes(&connection->body.bytes);
    exchange->body_length = buffer_length(&connection->body.bytes);
    service->request(service, exchange);
}

/* The head has been shown to the service. */
static void begin_body(struct http_connection *connection)
{
    const struct http_exchange *exchange = &connection->exchange;
    const struct http_head *head = &exchange->head;

    if (connection->state != HTTP_CONNECTION_BODY)
        return;
    connection->body_since = clock_seconds();
    connection->read_by = connection->body_since + limits_of(connection)->body_grace_seconds;
    http_body_begin(&connection->body, head, exchange->body_limit);
    if (exchange->is_complete)
        http_body_drop(&connection->body);
    else if (head->content_length > exchange->body_limit)
        http_connection_reject(connection, 413, "The body is too large");
    else if (head->expects_continue && buffer_length(&connection->input) == 0)
        send_continue(connection);
}

/* The head is LENGTH bytes of the input. */
static void http_connection_take_head(struct http_connection *connection, size_t length)
{
    struct http_exchange *exchange = &connection->exchange;
    struct http_service *service = connection->settings.service;
    struct buffer *text = &connection->head_text;
    struct error err = ERROR_INIT;
    unsigned status;

    begin_exchange(connection);
    buffer_consume(text, buffer_length(text));
    (void)buffer_append(text, buffer_bytes(&connection->input), length, &err);
    explicit_bzero(buffer_bytes(&connection->input), length); /* there may be a token in it */
    buffer_consume(&connection->input, length);
    connection->state = HTTP_CONNECTION_BODY;
    status = http_head_parse(buffer_bytes(text), length, &exchange->head);
    if (status) {
        http_connection_reject(connection, status, exchange->head.problem);
        return;
    }
    exchange->is_told = true;
    service->head(service, exchange);
    begin_body(connection);
}

/* True: the input may hold more to be done. */
static bool step_head(struct http_connection *connection)
{
    struct buffer *input = &connection->input;
    size_t length = buffer_length(input);
    ssize_t head;

    if (length == 0 || has_congestion(connection))
        return false;
    head = http_head_find_end(buffer_bytes(input), length, &connection->scanned);
    if (head == 0 && length <= HTTP_HEAD_BYTES)
        return false;
    if (head < 0 || head == 0 || head > HTTP_HEAD_BYTES) {
        begin_exchange(connection);
        http_head_clear(&connection->exchange.head);
        http_connection_reject(connection, head < 0 ? 400 : 431,
                               head < 0 ? "This is no HTTP/1 request" : "The head is too long");
        return false;
    }
    http_connection_take_head(connection, (size_t)head);
    return true;
}

static bool has_body(const struct http_head *head)
{
    return head->is_chunked || head->content_length > 0;
}

static bool step_body(struct http_connection *connection)
{
    struct buffer *input = &connection->input;
    enum http_body_state state;
    size_t used;

    if (has_body(&connection->exchange.head) && buffer_length(input) == 0)
        return false;
    state = http_body_feed(&connection->body, buffer_bytes(input), buffer_length(input), &used);
    buffer_consume(input, used);
    switch (state) {
    case HTTP_BODY_PARTIAL:
        return false;
    case HTTP_BODY_COMPLETE:
        if (connection->exchange.is_complete)
            end_exchange(connection);
        else
            http_connection_request(connection);
        return true;
    case HTTP_BODY_BAD:
        http_connection_reject(connection, 400, "The chunks of the body are malformed");
        return false;
    case HTTP_BODY_TOO_LARGE:
        http_connection_reject(connection, 413, "The body is too large");
        return false;
    }
    return false;
}

static bool http_connection_step(struct http_connection *connection)
{
    if (connection->state == HTTP_CONNECTION_HEAD)
        return step_head(connection);
    return connection->state == HTTP_CONNECTION_BODY && step_body(connection);
}

/* Serves what has come in, as far as it goes. */
static void http_connection_advance(struct http_connection *connection)
{
    unsigned steps = 0;

    if (connection->state == HTTP_CONNECTION_HEAD && !connection->is_begun &&
        buffer_length(&connection->input) > 0) {
        connection->is_begun = true;
        connection->read_by = clock_seconds() + limits_of(connection)->head_seconds;
    }
    while (steps < STEPS_AT_ONCE && http_connection_step(connection))
        steps++;
    ev_timer_stop(connection->settings.loop, &connection->resume);
    if (steps == STEPS_AT_ONCE)
        resume_soon(connection);
    http_connection_rearm(connection);
}

/* BYTES are wiped: there may be a token in them. */
static void http_connection_receive(struct http_connection *connection, char *bytes, size_t length)
{
    struct error err = ERROR_INIT;

    if (connection->state == HTTP_CONNECTION_LINGERING) {
        connection->dropped += length;
        if (connection->dropped > limits_of(connection)->linger_bytes)
            http_connection_close(connection, "it goes on sending");
        return;
    }
    if (buffer_append(&connection->input, bytes, length, &err) < 0)
        http_connection_close(connection, err.message);
    explicit_bzero(bytes, length);
    http_connection_advance(connection);
}

static void receive_end(struct http_connection *connection)
{
    connection->is_ended = true;
    if (connection->state == HTTP_CONNECTION_HEAD)
        begin_lingering(connection);
    else if (connection->state == HTTP_CONNECTION_LINGERING && connection->read_by < INFINITY)
        http_connection_close(connection, "done");
    else if (connection->state != HTTP_CONNECTION_LINGERING)
        http_connection_close(connection, "nobody is there");
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
        http_connection_close(connection, "nobody is there");
    else
        http_connection_rearm(connection);
}

static void http_connection_on_readable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    http_connection_read_some(CONTAINER_OF(watcher, struct http_connection, readable));
}

static void http_connection_on_resume(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct http_connection *connection = CONTAINER_OF(timer, struct http_connection, resume);

    (void)loop;
    (void)events;
    if (connection->settings.channel->has_pending && wants_input(connection))
        http_connection_read_some(connection);
    else
        http_connection_advance(connection);
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
    (void)events;
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
    if (connection->state == HTTP_CONNECTION_LINGERING)
        go_on_lingering(connection);
    http_connection_advance(connection);
}

/* Time */

static void judge_body(struct http_connection *connection, double now)
{
    const struct http_limits *limits = limits_of(connection);
    double elapsed = now - connection->body_since;
    double wanted = (elapsed - limits->body_grace_seconds) * limits->body_bytes_per_second;

    if (elapsed < limits->body_seconds && (double)connection->body.received >= wanted) {
        connection->read_by = fmin(now + limits->body_grace_seconds / CHECKS_IN_GRACE,
                                   connection->body_since + limits->body_seconds);
        return;
    }
    if (connection->exchange.is_complete)
        http_connection_close(connection, "its body takes too long");
    else
        http_connection_reject(connection, 408, "The body takes too long");
}

static void http_connection_on_read_late(struct http_connection *connection, double now)
{
    bool has_part = buffer_length(&connection->input) > 0;

    switch (connection->state) {
    case HTTP_CONNECTION_HEAD:
        if (has_part) {
            begin_exchange(connection);
            http_head_clear(&connection->exchange.head);
            http_connection_reject(connection, 408, "The head takes too long");
        } else {
            http_connection_close(connection, "it asks for nothing");
        }
        return;
    case HTTP_CONNECTION_BODY:
        judge_body(connection, now);
        return;
    case HTTP_CONNECTION_LINGERING:
        http_connection_close(connection, "done");
        return;
    case HTTP_CONNECTION_RESPONSE:
    case HTTP_CONNECTION_CLOSED:
        return;
    }
}

static void http_connection_on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct http_connection *connection = CONTAINER_OF(timer, struct http_connection, timer);
    double now = clock_seconds();

    (void)loop;
    (void)events;
    connection->timer_at = INFINITY;
    if (now >= connection->take_by)
        http_connection_close(connection, "it takes no output");
    else if (now >= connection->read_by)
        http_connection_on_read_late(connection, now);
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
        .settings = *settings,
        .is_begun = true,
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
    connection->state = HTTP_CONNECTION_CLOSED;
    http_connection_forsake(connection);
    http_body_deinit(&connection->body);
    http_writer_deinit(&connection->writer);
    buffer_deinit(&connection->head_text);
    buffer_deinit(&connection->input);
    channel->ops->free(channel);
}

void http_connection_stop(struct http_connection *connection)
{
    connection->is_last = true;
    if (connection->state == HTTP_CONNECTION_CLOSED)
        return;
    if (connection->exchange.is_told && !connection->exchange.is_stream)
        http_connection_reject(connection, 503, "The server is stopping");
    http_connection_forsake(connection);
    if (http_writer_unsent(&connection->writer) == 0) {
        http_connection_close(connection, "the server stops");
        return;
    }
    begin_lingering(connection);
    connection->read_by = clock_seconds() + HTTP_CONNECTION_HURRY_SECONDS;
    http_connection_rearm(connection);
}
