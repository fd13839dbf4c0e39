/* Input: a byte that says in what pieces the rest comes, and the rest: what a client sends. The
 * same bytes go to two connections, to one in a piece, to the other in small ones. What comes back
 * does not depend on that, and the service is told of the end of every exchange it was told of. */
#undef NDEBUG
#include "base/buffer.h"
#include "base/list.h"
#include "server/transport/http/http_connection.h"
#include "server/transport/transport.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    INPUT_BYTES = 8192, /* a longer one is cut, so that no head is too long in pieces only */
    BODY_BYTES = 300,
    RECEIVED_BYTES = 64 * 1024 * 1024,
    IDLE_TURNS = 3,
};

struct client {
    struct ev_loop *loop;
    struct http_limits limits;
    struct http_service service;
    struct http_connection connection;
    struct http_exchange *waiting; /* borrowed: to be responded to when nothing else happens */
    unsigned open;                 /* exchanges that the service is to be told the end of */
    bool is_closed;
    int fd;
    struct buffer received;
};

static struct client *client_of(struct http_service *service)
{
    return CONTAINER_OF(service, struct client, service);
}

static void respond(struct client *client, struct http_exchange *exchange)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%zu bytes, %u fields", exchange->body_length,
                          exchange->head.field_count);

    client->open--;
    http_respond(exchange, 200, "", "text/plain", text, (size_t)length);
}

static void stream(struct client *client, struct http_exchange *exchange)
{
    client->open--;
    http_stream_begin(exchange, "");
    http_stream_send(exchange, NULL, "message", exchange->head.path, strlen(exchange->head.path));
    http_stream_end(exchange);
}

static void on_head(struct http_service *service, struct http_exchange *exchange)
{
    struct client *client = client_of(service);

    assert(client->open == 0 && !client->waiting);
    client->open++;
    exchange->body_limit = BODY_BYTES;
    if (strcmp(exchange->head.path, "/refuse") == 0)
        respond(client, exchange);
}

static void on_request(struct http_service *service, struct http_exchange *exchange)
{
    struct client *client = client_of(service);

    assert(client->open == 1 && exchange->body_length <= BODY_BYTES);
    if (strcmp(exchange->head.path, "/later") == 0)
        client->waiting = exchange;
    else if (strcmp(exchange->head.path, "/stream") == 0)
        stream(client, exchange);
    else
        respond(client, exchange);
}

static void on_gone(struct http_service *service, struct http_exchange *exchange)
{
    struct client *client = client_of(service);

    assert(client->open == 1);
    client->open--;
    if (client->waiting == exchange)
        client->waiting = NULL;
}

static bool on_admit(struct http_connection *connection, const char *principal)
{
    (void)principal;
    (void)connection;
    return true;
}

static void on_closed(struct http_connection *connection)
{
    CONTAINER_OF(connection, struct client, connection)->is_closed = true;
}

static void client_init(struct client *client)
{
    int ends[2];

    *client = (struct client){
        .loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV),
        .limits = transport_default_limits.http,
        .service = {.head = on_head, .request = on_request, .gone = on_gone},
    };
    buffer_init(&client->received, RECEIVED_BYTES);
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    client->fd = ends[1];
    http_connection_init(&client->connection, &(struct http_connection_settings){
                                                  .loop = client->loop,
                                                  .service = &client->service,
                                                  .limits = &client->limits,
                                                  .channel = channel_new_plain(ends[0]),
                                                  .admit = on_admit,
                                                  .closed = on_closed,
                                              });
}

/* The client goes away, and so does the connection. */
static void client_deinit(struct client *client)
{
    close(client->fd);
    ev_run(client->loop, EVRUN_NOWAIT);
    http_connection_deinit(&client->connection);
    assert(client->open == 0);
    buffer_deinit(&client->received);
    ev_loop_destroy(client->loop);
}

static bool receive(struct client *client)
{
    struct error err = ERROR_INIT;
    char piece[4096];
    ssize_t count = recv(client->fd, piece, sizeof piece, MSG_DONTWAIT);

    if (count > 0)
        assert(buffer_append(&client->received, piece, (size_t)count, &err) == 0);
    return count > 0;
}

/* Until nothing happens any more. */
static void settle(struct client *client)
{
    for (unsigned idle = 0; idle < IDLE_TURNS; idle++) {
        ev_run(client->loop, EVRUN_NOWAIT);
        if (receive(client))
            idle = 0;
        if (client->waiting) {
            struct http_exchange *exchange = client->waiting;

            client->waiting = NULL;
            respond(client, exchange);
            idle = 0;
        }
    }
}

static void send_all(struct client *client, const char *bytes, size_t size, size_t step)
{
    while (size > 0) {
        size_t piece = size < step ? size : step;

        if (send(client->fd, bytes, piece, MSG_NOSIGNAL) < 0)
            break; /* it was refused, and closed */
        settle(client);
        bytes += piece;
        size -= piece;
    }
    settle(client);
}

/* Leave to send a body is only given when that is not there yet. */
static size_t drop_continue(struct buffer *received)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    char *bytes = buffer_bytes(received);
    size_t length = buffer_length(received);
    char *found;

    while (length > 0 && (found = memmem(bytes, length, text, strlen(text)))) {
        char *behind = found + strlen(text);

        memmove(found, behind, (size_t)(bytes + length - behind));
        length -= strlen(text);
    }
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client whole;
    struct client pieces;
    size_t length;

    if (size == 0)
        return 0;
    size = size < INPUT_BYTES ? size : INPUT_BYTES;
    client_init(&whole);
    client_init(&pieces);
    send_all(&whole, (const char *)data + 1, size - 1, size);
    send_all(&pieces, (const char *)data + 1, size - 1, data[0] % 64 + 1);
    length = drop_continue(&whole.received);
    assert(drop_continue(&pieces.received) == length);
    assert(length == 0 ||
           memcmp(buffer_bytes(&whole.received), buffer_bytes(&pieces.received), length) == 0);
    client_deinit(&whole);
    client_deinit(&pieces);
    return 0;
}
