/* Input: a byte that says how the rest is sent, and the rest: what a client sends over a socket.
 *
 * The same bytes go to two servers: to one in a piece, with all the room in the world; to the other
 * in small pieces, and, for some values of the byte, with little room for output and a client that
 * reads now and then. Whatever the bytes are, each line that comes back is JSON, and a client that
 * reads all of it gets the same answers from both. At the end nothing is left over. */
#undef NDEBUG
#include "base/buffer.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/protocol/scan.h"
#include "server/mcp/server.h"
#include "server/tools/registry.h"
#include "server/transport/stream.h"
#include "tests/fixture/tools.h"

#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    LINE_LIMIT = 2000,
    SMALL_UNSENT = 500,
    LARGE_UNSENT = 256 * 1024 * 1024,
    SOCKET_BYTES = 4096,
    ROUNDS = 100000, /* more than any input needs */
    SLOW_BIT = 0x80, /* of the first byte: the client reads seldom, and there is little room */
};

struct manner {
    unsigned pieces; /* 0: everything at once; else the seed of the lengths */
    bool is_slow;
};

struct exchange {
    struct ev_loop *loop;
    struct transport_limits limits;
    struct stream stream;
    int client;
    struct buffer received;
    bool is_leaving;
};

static void on_leaving(struct stream *stream)
{
    CONTAINER_OF(stream, struct exchange, stream)->is_leaving = true;
}

static void turn(struct exchange *exchange)
{
    ev_run(exchange->loop, EVRUN_NOWAIT);
}

static bool is_over(struct exchange *exchange)
{
    return exchange->is_leaving && stream_settle(&exchange->stream);
}

static bool receive(struct exchange *exchange)
{
    struct error err = ERROR_INIT;
    char piece[SOCKET_BYTES];
    ssize_t count = recv(exchange->client, piece, sizeof(piece), MSG_DONTWAIT);

    if (count > 0)
        assert(buffer_append(&exchange->received, piece, (size_t)count, &err) == 0);
    return count > 0;
}

static void receive_all(struct exchange *exchange)
{
    while (receive(exchange))
        ;
}

/* The next of a series of lengths, mostly short ones. */
static size_t next_length(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 16) % 7 == 0 ? (*seed >> 20) % 300 + 1 : (*seed >> 20) % 5 + 1;
}

static void send_all(struct exchange *exchange, const struct manner *manner, const char *bytes,
                     size_t length)
{
    unsigned seed = manner->pieces;
    size_t piece = length;

    while (length > 0 && !is_over(exchange)) {
        ssize_t sent;

        if (manner->pieces)
            piece = next_length(&seed);
        sent = send(exchange->client, bytes, piece < length ? piece : length,
                    MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            length -= (size_t)sent;
        }
        turn(exchange);
        if (!manner->is_slow || sent <= 0 || seed % 16 == 0)
            receive_all(exchange);
    }
}

/* Ends the input; what a call still holds back is given up. */
static void finish(struct exchange *exchange)
{
    shutdown(exchange->client, SHUT_WR);
    for (unsigned round = 0; !is_over(exchange); round++) {
        assert(round < ROUNDS);
        turn(exchange);
        receive_all(exchange);
        if (exchange->stream.state == STREAM_FINISHING && !is_over(exchange))
            stream_stop(&exchange->stream);
    }
    receive_all(exchange);
}

static void open_exchange(struct exchange *exchange, struct mcp_server *server,
                          const struct manner *manner)
{
    static const int room = SOCKET_BYTES;
    int ends[2];

    exchange->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    exchange->limits = (struct transport_limits){
        .line_bytes = LINE_LIMIT,
        .unsent_bytes = manner->is_slow ? SMALL_UNSENT : LARGE_UNSENT,
        .stall_seconds = 3600,
    };
    buffer_init(&exchange->received, LARGE_UNSENT);
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    assert(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0);
    exchange->client = ends[1];
    stream_init(&exchange->stream, &(struct stream_settings){
                                       .loop = exchange->loop,
                                       .server = server,
                                       .limits = &exchange->limits,
                                       .principal = "fuzzer",
                                       .in = ends[0],
                                       .out = ends[0],
                                       .leaving = on_leaving,
                                   });
}

static void close_exchange(struct exchange *exchange)
{
    stream_deinit(&exchange->stream);
    assert(session_is_idle(&exchange->stream.session));
    close(exchange->client);
    ev_loop_destroy(exchange->loop);
}

static void check_line(const char *line, size_t length)
{
    AUTO_FREE char *copy = memory_format("%.*s", (int)length, line);
    AUTO(scan_deinit) struct scan scan = {0};
    AUTO_JSON json_t *message = NULL;
    struct error err = ERROR_INIT;

    assert(strlen(copy) == length);
    assert(scan_text(&scan, copy, length, &err) == 0);
    message = json_loadb(copy, length, JSON_ALLOW_NUL, NULL);
    assert(json_is_object(message) || json_is_array(message));
}

static void check_lines(struct buffer *received)
{
    size_t length = buffer_length(received);
    const char *line = length ? buffer_bytes(received) : NULL;

    while (length > 0) {
        const char *newline = memchr(line, '\n', length);

        assert(newline); /* the last one is complete, too */
        check_line(line, (size_t)(newline - line));
        length -= (size_t)(newline - line) + 1;
        line = newline + 1;
    }
}

/* What a client is to bring back is another each time, but equally long. */
static void mask_states(struct buffer *received)
{
    static const char MEMBER[] = "\"requestState\":\"";
    char *end = buffer_bytes(received) + buffer_length(received);
    char *state = buffer_bytes(received);

    while (state && (state = memmem(state, (size_t)(end - state), MEMBER, strlen(MEMBER)))) {
        for (state += strlen(MEMBER); *state != '"'; state++)
            *state = 'x';
    }
}

/* What comes back, owned by the caller. */
static struct buffer serve(const struct manner *manner, const char *bytes, size_t length)
{
    struct mcp_server server = {
        .loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()};
    struct exchange exchange = {0};
    struct fixture fixture;

    mcp_server_init(&server);
    fixture_init(&fixture, server.registry);
    open_exchange(&exchange, &server, manner);
    send_all(&exchange, manner, bytes, length);
    finish(&exchange);
    close_exchange(&exchange);
    assert(list_is_empty(&fixture.held));
    mcp_server_deinit(&server);
    registry_free(server.registry);
    check_lines(&exchange.received);
    mask_states(&exchange.received);
    return exchange.received;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manner manner = {0};
    struct buffer whole;
    struct buffer pieces;

    if (size == 0)
        return 0;
    whole = serve(&manner, (const char *)data + 1, size - 1);
    manner.pieces = data[0];
    manner.is_slow = data[0] & SLOW_BIT;
    pieces = serve(&manner, (const char *)data + 1, size - 1);
    if (!manner.is_slow) { /* a slow client misses some progress */
        assert(buffer_length(&pieces) == buffer_length(&whole));
        assert(buffer_length(&whole) == 0 ||
               memcmp(buffer_bytes(&pieces), buffer_bytes(&whole), buffer_length(&whole)) == 0);
    }
    buffer_deinit(&whole);
    buffer_deinit(&pieces);
    return 0;
}
