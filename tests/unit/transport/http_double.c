#include "tests/unit/transport/http_double.h"

#include "base/list.h"
#include "base/memory.h"
#include "server/transport/transport.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static struct http_double *double_of(struct http_service *service)
{
    return CONTAINER_OF(service, struct http_double, service);
}

static bool asks_for(const struct http_exchange *exchange, const char *path)
{
    return strcmp(exchange->head.path, path) == 0;
}

static void on_head(struct http_service *service, struct http_exchange *exchange)
{
    struct http_double *peer = double_of(service);

    peer->heads++;
    if (asks_for(exchange, "/admit") && !http_exchange_admit(exchange, NULL))
        return;
    if (asks_for(exchange, "/refuse"))
        http_respond(exchange, 404, "X-Reason: none\r\n", NULL, "", 0);
    else if (asks_for(exchange, "/small"))
        exchange->body_limit = HTTP_DOUBLE_SMALL_BYTES;
}

static void fill(struct http_exchange *exchange)
{
    size_t length = strtoul(exchange->head.query, NULL, 10);
    char *text = memory_new(length + 1, 1);

    memset(text, 'f', length);
    http_respond(exchange, 200, "", "text/plain", text, length);
    free(text);
}

static void keep_body(struct http_double *peer, const struct http_exchange *exchange)
{
    size_t kept = exchange->body_length < sizeof peer->last_body - 1 ? exchange->body_length
                                                                     : sizeof peer->last_body - 1;

    assert_int_equal(exchange->body ? exchange->body[exchange->body_length] : 0, 0);
    if (kept)
        memcpy(peer->last_body, exchange->body, kept);
    peer->last_body[kept] = '\0';
    peer->last_length = exchange->body_length;
}

static void on_request(struct http_service *service, struct http_exchange *exchange)
{
    struct http_double *peer = double_of(service);

    peer->requests++;
    keep_body(peer, exchange);
    if (asks_for(exchange, "/later") || asks_for(exchange, "/stream"))
        peer->waiting = exchange;
    if (asks_for(exchange, "/stream"))
        http_stream_begin(exchange, "X-Stream: yes\r\n");
    else if (asks_for(exchange, "/fill"))
        fill(exchange);
    else if (!asks_for(exchange, "/later"))
        http_respond(exchange, 200, "", "text/plain", exchange->body, exchange->body_length);
}

static void on_gone(struct http_service *service, struct http_exchange *exchange)
{
    struct http_double *peer = double_of(service);

    peer->gone++;
    if (peer->waiting == exchange)
        peer->waiting = NULL;
}

static void on_drained(struct http_service *service, struct http_exchange *exchange)
{
    (void)exchange;
    double_of(service)->drained++;
}

static bool on_admit(struct http_connection *connection, const char *principal)
{
    (void)principal;
    return !CONTAINER_OF(connection, struct http_double, connection)->is_full;
}

static void on_closed(struct http_connection *connection)
{
    CONTAINER_OF(connection, struct http_double, connection)->is_closed = true;
}

static void on_settle(struct ev_loop *loop, struct ev_prepare *watcher, int events)
{
    struct http_double *peer = CONTAINER_OF(watcher, struct http_double, settle);

    (void)loop;
    (void)events;
    if (peer->is_over || !peer->is_closed)
        return;
    http_connection_deinit(&peer->connection);
    peer->is_over = true;
}

struct http_double *http_double_new(void)
{
    struct http_double *peer = NEW(struct http_double);

    peer->loop = ev_loop_new(EVFLAG_AUTO);
    ev_prepare_init(&peer->settle, on_settle);
    ev_prepare_start(peer->loop, &peer->settle);
    peer->make_channel = channel_new_plain;
    peer->limits = transport_default_limits.http;
    peer->service = (struct http_service){
        .head = on_head, .request = on_request, .gone = on_gone, .drained = on_drained};
    return peer;
}

void http_double_open(struct http_double *peer)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    peer->client = ends[1];
    http_connection_init(&peer->connection, &(struct http_connection_settings){
                                                .loop = peer->loop,
                                                .service = &peer->service,
                                                .limits = &peer->limits,
                                                .channel = peer->make_channel(ends[0]),
                                                .admit = on_admit,
                                                .closed = on_closed,
                                            });
}

struct http_double *http_double_serve(void)
{
    struct http_double *peer = http_double_new();

    http_double_open(peer);
    return peer;
}

void http_double_free(struct http_double *peer)
{
    if (!peer->is_over)
        http_connection_deinit(&peer->connection);
    if (peer->client >= 0)
        close(peer->client);
    ev_loop_destroy(peer->loop);
    free(peer);
}

void http_double_say(struct http_double *peer, const char *text)
{
    assert_int_equal(send(peer->client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

void http_double_ask(struct http_double *peer, const char *text, const char *wanted)
{
    http_double_say(peer, text);
    turn_until_received(peer->loop, peer->client, wanted);
}

void http_double_respond(struct http_double *peer, const char *body)
{
    http_respond(peer->waiting, 200, "", "text/plain", body, strlen(body));
    peer->waiting = NULL;
}

char *http_double_read_to_end(struct http_double *peer)
{
    char *text = memory_new(HTTP_DOUBLE_TEXT_BYTES, 1);

    turn_until_closed(peer->loop, peer->client, text, HTTP_DOUBLE_TEXT_BYTES);
    return text;
}
