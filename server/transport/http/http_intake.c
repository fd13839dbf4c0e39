#include "base/clock.h"
#include "base/log.h"
#include "server/transport/http/http_connection_private.h"

#include <math.h>
#include <string.h>

enum {
    STEPS_AT_ONCE = 16,      /* heads and bodies of early requests; then other connections have
                                their turn */
    CHECKS_IN_GRACE = 5,     /* how often the rate of a body is looked at */
    REJECTION_CODE = -32600, /* JSON-RPC: invalid request */
};

/* From request to request */

static void begin_exchange(struct http_connection *connection)
{
    struct http_exchange *exchange = &connection->exchange;

    exchange->peer = connection->settings.peer;
    exchange->entrance = connection->settings.entrance;
    exchange->body_limit = connection->settings.limits->body_bytes;
    exchange->body = NULL;
    exchange->body_length = 0;
    exchange->data = NULL;
    exchange->is_told = false;
    exchange->is_stream = false;
    connection->is_congested = false;
    http_connection_set_state(connection, HTTP_CONNECTION_BODY);
}

/* Request and response are behind us. */
static void end_exchange(struct http_connection *connection)
{
    bool has_more = buffer_length(&connection->input) > 0;

    http_body_clear(&connection->body);
    if (connection->is_last) {
        http_connection_end(connection, HTTP_CONNECTION_FLUSHING);
        return;
    }
    connection->comment_at = INFINITY;
    connection->scanned = 0;
    http_connection_set_state(connection, has_more ? HTTP_CONNECTION_HEAD : HTTP_CONNECTION_IDLE);
    if (has_more)
        http_connection_resume_soon(connection);
}

void http_intake_responded(struct http_connection *connection)
{
    connection->exchange.is_told = false;
    if (connection->state == HTTP_CONNECTION_RESPONSE || connection->is_last) {
        end_exchange(connection);
    } else {
        http_connection_set_state(connection, HTTP_CONNECTION_REST);
        http_body_drop(&connection->body);
    }
    http_connection_sent(connection);
}

/* A response before the end of the body keeps the connection only if the rest is short and certain
 * to come. */
bool http_intake_can_stay(const struct http_connection *connection)
{
    const struct http_head *head = &connection->exchange.head;

    if (!head->keep_alive || connection->is_last)
        return false;
    return connection->state == HTTP_CONNECTION_RESPONSE ||
           (!head->is_chunked && !head->expects_continue &&
            head->content_length <= connection->settings.limits->read_ahead_bytes);
}

void http_intake_reject(struct http_connection *connection, unsigned status, const char *problem)
{
    bool has_response = connection->exchange.is_stream || connection->state == HTTP_CONNECTION_REST;

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

/* Heads */

/* Refuses input that is no head. */
static void reject_head(struct http_connection *connection, unsigned status, const char *problem)
{
    begin_exchange(connection);
    http_head_clear(&connection->exchange.head);
    http_intake_reject(connection, status, problem);
}

static void send_continue(struct http_connection *connection)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct iovec part = {(char *)text, strlen(text)};

    http_writer_send(&connection->writer, &part, 1);
}

/* The head has been shown to the service. */
static void begin_body(struct http_connection *connection)
{
    const struct http_exchange *exchange = &connection->exchange;
    const struct http_head *head = &exchange->head;

    if (connection->state != HTTP_CONNECTION_BODY && connection->state != HTTP_CONNECTION_REST)
        return;
    http_body_begin(&connection->body, head, exchange->body_limit);
    if (connection->state == HTTP_CONNECTION_REST)
        http_body_drop(&connection->body);
    else if (head->content_length > exchange->body_limit)
        http_intake_reject(connection, 413, "The body is too large");
    else if (head->expects_continue && buffer_length(&connection->input) == 0)
        send_continue(connection);
}

/* The head is LENGTH bytes of the input. */
static void take_head(struct http_connection *connection, size_t length)
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
    status = http_head_parse(buffer_bytes(text), length, &exchange->head);
    if (status) {
        http_intake_reject(connection, status, exchange->head.problem);
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

    if (length == 0 || http_connection_is_congested(connection))
        return false;
    head = http_head_find_end(buffer_bytes(input), length, &connection->scanned);
    if (head == 0 && length <= HTTP_HEAD_BYTES)
        return false;
    if (head < 0 || head == 0 || head > HTTP_HEAD_BYTES) {
        reject_head(connection, head < 0 ? 400 : 431,
                    head < 0 ? "This is no HTTP/1 request" : "The head is too long");
        return false;
    }
    take_head(connection, (size_t)head);
    return true;
}

/* Bodies */

static void request_response(struct http_connection *connection)
{
    struct http_service *service = connection->settings.service;
    struct http_exchange *exchange = &connection->exchange;

    http_connection_set_state(connection, HTTP_CONNECTION_RESPONSE);
    exchange->body = buffer_bytes(&connection->body.bytes);
    exchange->body_length = buffer_length(&connection->body.bytes);
    service->request(service, exchange);
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
        if (connection->state == HTTP_CONNECTION_REST)
            end_exchange(connection);
        else
            request_response(connection);
        return true;
    case HTTP_BODY_BAD:
        http_intake_reject(connection, 400, "The chunks of the body are malformed");
        return false;
    case HTTP_BODY_TOO_LARGE:
        http_intake_reject(connection, 413, "The body is too large");
        return false;
    }
    return false;
}

/* The whole input */

static bool http_intake_step(struct http_connection *connection)
{
    switch (connection->state) {
    case HTTP_CONNECTION_HEAD:
        return step_head(connection);
    case HTTP_CONNECTION_BODY:
    case HTTP_CONNECTION_REST:
        return step_body(connection);
    case HTTP_CONNECTION_IDLE:
    case HTTP_CONNECTION_RESPONSE:
    case HTTP_CONNECTION_FLUSHING:
    case HTTP_CONNECTION_FINISHING:
    case HTTP_CONNECTION_LINGERING:
    case HTTP_CONNECTION_STOPPING:
    case HTTP_CONNECTION_CLOSED:
        break;
    }
    return false;
}

void http_intake_advance(struct http_connection *connection)
{
    unsigned steps = 0;

    if (connection->state == HTTP_CONNECTION_IDLE && buffer_length(&connection->input) > 0)
        http_connection_set_state(connection, HTTP_CONNECTION_HEAD);
    while (steps < STEPS_AT_ONCE && http_intake_step(connection))
        steps++;
    ev_timer_stop(connection->settings.loop, &connection->resume);
    if (steps == STEPS_AT_ONCE)
        http_connection_resume_soon(connection);
    http_connection_rearm(connection);
}

/* Time */

static void judge_body(struct http_connection *connection, double now)
{
    const struct http_limits *limits = connection->settings.limits;
    double elapsed = now - connection->body_since;
    double wanted = (elapsed - limits->body_grace_seconds) * limits->body_bytes_per_second;

    if (elapsed < limits->body_seconds && (double)connection->body.received >= wanted) {
        connection->read_by = fmin(now + limits->body_grace_seconds / CHECKS_IN_GRACE,
                                   connection->body_since + limits->body_seconds);
        return;
    }
    if (connection->state == HTTP_CONNECTION_REST)
        http_connection_close(connection, "the body takes too long");
    else
        http_intake_reject(connection, 408, "The body takes too long");
}

void http_intake_judge(struct http_connection *connection, double now)
{
    switch (connection->state) {
    case HTTP_CONNECTION_IDLE:
        http_connection_close(connection, "no request came");
        return;
    case HTTP_CONNECTION_HEAD:
        if (buffer_length(&connection->input) > 0)
            reject_head(connection, 408, "The head takes too long");
        else
            http_connection_close(connection, "no request came");
        return;
    case HTTP_CONNECTION_BODY:
    case HTTP_CONNECTION_REST:
        judge_body(connection, now);
        return;
    case HTTP_CONNECTION_FINISHING:
    case HTTP_CONNECTION_LINGERING:
    case HTTP_CONNECTION_STOPPING:
        http_connection_close(connection, "done");
        return;
    case HTTP_CONNECTION_RESPONSE:
    case HTTP_CONNECTION_FLUSHING:
    case HTTP_CONNECTION_CLOSED:
        return;
    }
}
