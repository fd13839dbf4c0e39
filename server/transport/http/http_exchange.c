#include "server/transport/http/http_exchange.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "server/transport/http/http_connection_private.h"
#include "server/transport/http/http_event.h"

#include <stdio.h>
#include <string.h>

enum {
    HEAD_BYTES = 256, /* of a response's head, without the fields of the service */
    CHUNK_HEAD_BYTES = 24,
    STATUS_NO_CONTENT = 204,
    STATUS_UNAVAILABLE = 503,
    NO_ROOM_CODE = -32000, /* JSON-RPC: the server's own */
    ERROR_TEXT_BYTES = 512,
};

static struct http_connection *connection_of(struct http_exchange *exchange)
{
    return CONTAINER_OF(exchange, struct http_connection, exchange);
}

/* The response is not complete yet. */
static bool is_open(struct http_exchange *exchange)
{
    enum http_connection_state state = connection_of(exchange)->state;

    return state == HTTP_CONNECTION_BODY || state == HTTP_CONNECTION_RESPONSE;
}

/* A chunked stream has an end of its own, so the connection can be kept. */
static bool http_exchange_is_chunked(const struct http_exchange *exchange)
{
    return exchange->head.minor > 0;
}

/* True when a response can be completed. Otherwise the service is done with the exchange, too. */
static bool can_complete(struct http_exchange *exchange)
{
    if (!is_open(exchange))
        exchange->is_told = false;
    return is_open(exchange);
}

const char *http_exchange_field(const struct http_exchange *exchange, const char *name,
                                unsigned *ret_count)
{
    return http_head_find(&exchange->head, name, ret_count);
}

bool http_exchange_admit(struct http_exchange *exchange, const char *principal)
{
    struct http_connection *connection = connection_of(exchange);

    if (connection->is_admitted)
        return true;
    if (!connection->settings.admit(connection, principal)) {
        connection->is_last = true;
        http_refuse(exchange, STATUS_UNAVAILABLE, "Retry-After: 1\r\n", NO_ROOM_CODE,
                    "Too many connections; try again later");
        return false;
    }
    connection->is_admitted = true;
    return true;
}

bool http_exchange_admit_forwarded(struct http_exchange *exchange, const char *principal)
{
    struct http_connection *connection = connection_of(exchange);

    connection->is_forwarded = true;
    connection->is_admitted = false;
    return http_exchange_admit(exchange, principal);
}

/* Whole responses */

static const char *say_whether_kept(struct http_connection *connection)
{
    connection->is_last = !http_intake_can_stay(connection);
    return connection->is_last ? "Connection: close\r\n" : "";
}

static struct iovec http_exchange_part_of(const char *text, size_t length)
{
    return (struct iovec){(char *)text, length};
}

static size_t format_body_fields(char text[static HEAD_BYTES], unsigned status,
                                 const char *content_type, size_t length)
{
    if (status == STATUS_NO_CONTENT)
        return 0;
    if (!content_type)
        return (size_t)snprintf(text, HEAD_BYTES, "Content-Length: 0\r\n");
    return (size_t)snprintf(text, HEAD_BYTES, "Content-Type: %s\r\nContent-Length: %zu\r\n",
                            content_type, length);
}

static const struct {
    unsigned status;
    const char *reason;
} reasons[] = {
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

/* The words that follow the number of a status. */
static const char *http_exchange_reason(unsigned status)
{
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

void http_respond(struct http_exchange *exchange, unsigned status, const char *fields,
                  const char *content_type, const char *body, size_t length)
{
    struct http_connection *connection = connection_of(exchange);
    char start[HEAD_BYTES];
    char about_body[HEAD_BYTES];
    bool is_bodiless = !content_type || strcmp(exchange->head.method, "HEAD") == 0;
    struct iovec parts[] = {
        http_exchange_part_of(start, 0),
        http_exchange_part_of(fields, strlen(fields)),
        http_exchange_part_of(about_body,
                              format_body_fields(about_body, status, content_type, length)),
        http_exchange_part_of("\r\n", 2),
        http_exchange_part_of(body, is_bodiless ? 0 : length),
    };

    if (!can_complete(exchange))
        return;
    parts[0].iov_len = (size_t)snprintf(start, sizeof start, "HTTP/1.1 %u %s\r\n%s", status,
                                        http_exchange_reason(status), say_whether_kept(connection));
    http_writer_send(&connection->writer, parts, ARRAY_SIZE(parts));
    http_intake_responded(connection);
}

/* The names of refusals in the metrics. */
static const char *refusal_name(unsigned status)
{
    static const struct {
        unsigned status;
        const char *name;
    } names[] = {
        {400, "malformed"}, {401, "token"},        {403, "forbidden"}, {404, "not_found"},
        {405, "method"},    {406, "accept"},       {408, "timeout"},   {413, "too_large"},
        {414, "too_large"}, {415, "content_type"}, {421, "host"},      {429, "rate_limit"},
        {431, "too_large"}, {503, "no_room"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (names[i].status == status)
            return names[i].name;
    return "other";
}

void http_refuse(struct http_exchange *exchange, unsigned status, const char *fields, int code,
                 const char *message)
{
    char text[ERROR_TEXT_BYTES];
    int length =
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":%d,\"message\":\"%s\"}}", code, message);

    metrics_count(METRIC_REFUSALS, refusal_name(status), NULL);
    http_respond(exchange, status, fields, "application/json", text, (size_t)length);
}

/* Streams of events */

static void keep_from_silence(struct http_connection *connection)
{
    connection->comment_at = clock_seconds() + connection->settings.limits->comment_seconds;
}

void http_stream_begin(struct http_exchange *exchange, const char *fields)
{
    static const char about_body[] = "Content-Type: text/event-stream\r\n"
                                     "Cache-Control: no-cache, no-transform\r\n"
                                     "X-Accel-Buffering: no\r\n";
    struct http_connection *connection = connection_of(exchange);
    const char *ending;
    char start[HEAD_BYTES];
    int length;

    if (!is_open(exchange) || exchange->is_stream)
        return;
    exchange->is_stream = true;
    ending = http_exchange_is_chunked(exchange) ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
    length = snprintf(start, sizeof start, "HTTP/1.1 200 OK\r\n%s", say_whether_kept(connection));
    http_writer_send(&connection->writer,
                     (struct iovec[]){http_exchange_part_of(start, (size_t)length),
                                      http_exchange_part_of(about_body, strlen(about_body)),
                                      http_exchange_part_of(fields, strlen(fields)),
                                      http_exchange_part_of(ending, strlen(ending))},
                     4);
    keep_from_silence(connection);
    http_connection_sent(connection);
}

static int append_chunk_head(struct buffer *out, size_t length, struct error *err)
{
    char head[CHUNK_HEAD_BYTES];

    return buffer_append(out, head, (size_t)snprintf(head, sizeof head, "%zx\r\n", length), err);
}

/* Appends events of LENGTH bytes, which APPEND writes, to the unsent output, at most as much as the
 * buffer takes. */
static void http_exchange_append(struct http_exchange *exchange, size_t length,
                                 int (*append)(const void *data, size_t length, struct buffer *out,
                                               struct error *err),
                                 const void *data)
{
    struct http_connection *connection = connection_of(exchange);
    struct buffer *out = http_writer_compose(&connection->writer);
    bool is_chunked = http_exchange_is_chunked(exchange);
    struct error err = ERROR_INIT;

    if (!out)
        return;
    if ((is_chunked && append_chunk_head(out, length, &err) < 0) ||
        append(data, length, out, &err) < 0 ||
        (is_chunked && buffer_append(out, "\r\n", 2, &err) < 0))
        connection->writer.problem = "an event is too large";
}

static int append_event(const void *data, size_t length, struct buffer *out, struct error *err)
{
    (void)length;
    return http_event_append(data, out, err);
}

static int append_written_events(const void *data, size_t length, struct buffer *out,
                                 struct error *err)
{
    return buffer_append(out, data, length, err);
}

/* Writes appended bytes at once, if there were no unsent bytes before. */
static void flush_appended(struct http_connection *connection, size_t unsent_before)
{
    if (unsent_before == 0 && !connection->writer.problem)
        (void)http_writer_flush(&connection->writer);
    keep_from_silence(connection);
    http_connection_sent(connection);
}

static bool http_exchange_send(struct http_exchange *exchange, size_t length,
                               int (*append)(const void *data, size_t length, struct buffer *out,
                                             struct error *err),
                               const void *data)
{
    struct http_connection *connection = connection_of(exchange);
    size_t before = http_writer_unsent(&connection->writer);

    if (!is_open(exchange) || !exchange->is_stream)
        return false;
    http_exchange_append(exchange, length, append, data);
    flush_appended(connection, before);
    connection->is_congested = http_connection_is_congested(connection);
    return !connection->is_congested;
}

static bool http_exchange_send_event(struct http_exchange *exchange, const struct http_event *event)
{
    return http_exchange_send(exchange, http_event_length(event), append_event, event);
}

bool http_stream_pass(struct http_exchange *exchange, const char *events, size_t length)
{
    return http_exchange_send(exchange, length, append_written_events, events);
}

bool http_stream_send(struct http_exchange *exchange, const char *id, const char *event,
                      const char *data, size_t length)
{
    return http_exchange_send_event(
        exchange, &(struct http_event){.id = id, .name = event, .data = data, .length = length});
}

bool http_stream_send_retry(struct http_exchange *exchange, const char *id, unsigned milliseconds)
{
    return http_exchange_send_event(
        exchange, &(struct http_event){.id = id, .data = "", .retry = milliseconds});
}

void http_stream_comment(struct http_exchange *exchange)
{
    static const char chunk[] = "d\r\n: keepalive\n\n\r\n";
    static const char comment[] = ": keepalive\n\n";
    const char *text = http_exchange_is_chunked(exchange) ? chunk : comment;
    struct http_connection *connection = connection_of(exchange);
    struct iovec part = http_exchange_part_of(text, strlen(text));

    /* A client with unsent output needs no comment. */
    if (http_writer_unsent(&connection->writer) == 0)
        http_writer_send(&connection->writer, &part, 1);
    keep_from_silence(connection);
    http_connection_sent(connection);
}

void http_stream_end(struct http_exchange *exchange)
{
    static const char last_chunk[] = "0\r\n\r\n";
    struct http_connection *connection = connection_of(exchange);
    struct iovec part = http_exchange_part_of(last_chunk, strlen(last_chunk));

    if (!can_complete(exchange) || !exchange->is_stream)
        return;
    if (http_exchange_is_chunked(exchange))
        http_writer_send(&connection->writer, &part, 1);
    http_intake_responded(connection);
}

void http_exchange_abort(struct http_exchange *exchange)
{
    exchange->is_told = false;
    http_connection_close(connection_of(exchange), "the response was given up");
}
