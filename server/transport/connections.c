#include "server/transport/connections.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "server/transport/http/tls.h"

#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So that `printf ... | pyexecd` shows the answer of a quick call. */
#define STDIO_GRACE_SECONDS 1.0

/* Why a client is sent away, in either framing. */
struct connections_refusal {
    const char *reason; /* in the metrics */
    const char *line;
    const char *http;
};

#define NO_ROOM_LINE                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"                                 \
    "\"message\":\"Too many connections; try again later\"}}\n"

static const struct connections_refusal no_room = {"no_room", NO_ROOM_LINE,
                                                   "HTTP/1.1 503 Service Unavailable\r\n"
                                                   "Retry-After: 1\r\n"
                                                   "Connection: close\r\n"
                                                   "Content-Length: 0\r\n"
                                                   "\r\n"};

#define INSIDER_LINE                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"                                 \
    "\"message\":\"A script cannot call the server that runs it. Do the work in this script, or "  \
    "print what the next call needs.\"}}\n"

#define STRANGER_LINE                                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"                                 \
    "\"message\":\"The process that has connected cannot be found, so it is not served: it may "   \
    "be "                                                                                          \
    "a script of this server.\"}}\n"

#define FORBIDDEN_HEAD                                                                             \
    "HTTP/1.1 403 Forbidden\r\n"                                                                   \
    "Content-Type: application/json\r\n"                                                           \
    "Connection: close\r\n"                                                                        \
    "\r\n"

static const struct connections_refusal insider_refusals[] = {
    [INSIDER_YES] = {"insider", INSIDER_LINE, FORBIDDEN_HEAD INSIDER_LINE},
    [INSIDER_UNKNOWN] = {"insider", STRANGER_LINE, FORBIDDEN_HEAD STRANGER_LINE},
};

/* One connection */

static struct connection *connection_new(struct connections *owner, int fd, const struct peer *peer)
{
    struct connection *connection = NEW(struct connection);

    connection->owner = owner;
    connection->fd = fd;
    connection->peer = *peer;
    connection->number = ++owner->last_number;
    owner->count++;
    list_append(&owner->active, &connection->link);
    return connection;
}

static void deinit_login(struct connection *connection)
{
    login_deinit(&connection->login);
    close(connection->fd);
}

static void deinit_stream(struct connection *connection)
{
    stream_deinit(&connection->stream);
}

static void deinit_http(struct connection *connection)
{
    http_connection_deinit(&connection->http);
}

static void (*const deinit_kind[])(struct connection *connection) = {
    [CONNECTION_LOGIN] = deinit_login,
    [CONNECTION_STREAM] = deinit_stream,
    [CONNECTION_HTTP] = deinit_http,
};

static void connection_free(struct connection *connection)
{
    list_remove(&connection->link);
    connection->owner->count--;
    if (connection == connection->owner->stdio)
        connection->owner->stdio = NULL;
    deinit_kind[connection->kind](connection);
    free(connection);
}

static void connections_leave(struct connection *connection)
{
    list_remove(&connection->link);
    list_append(&connection->owner->leaving, &connection->link);
}

static void connections_on_leaving(struct stream *stream)
{
    connections_leave(CONTAINER_OF(stream, struct connection, stream));
}

/* Hands the descriptors to the stream. */
static void connections_serve(struct connection *connection, int out, double grace_seconds)
{
    struct connections *owner = connection->owner;
    const char *principal = connection->login.check.principal;
    char peer[PEER_TEXT_BYTES];

    peer_format_principal(&connection->peer, peer);
    if (!*principal)
        principal = peer;
    log_info("connection accepted number=%u principal=%s", connection->number, principal);
    connection->kind = CONNECTION_STREAM;
    stream_init(&connection->stream, &(struct stream_settings){
                                         .loop = owner->loop,
                                         .server = owner->server,
                                         .limits = &owner->limits,
                                         .principal = principal,
                                         .number = connection->number,
                                         .in = STEAL_FD(connection->fd),
                                         .out = out,
                                         .grace_seconds = grace_seconds,
                                         .leaving = connections_on_leaving,
                                     });
}

/* Room */

/* The number of connections of PEER that are not waiting. */
static unsigned count_peer(const struct connections *connections, const struct peer *peer)
{
    const struct list *lists[] = {&connections->active, &connections->leaving};
    unsigned count = 0;

    for (size_t i = 0; i < 2; i++) {
        LIST_FOR_EACH (lists[i], link) {
            const struct connection *connection = CONTAINER_OF(link, struct connection, link);

            count += !connection->waiting && peer_equals(&connection->peer, peer);
        }
    }
    return count;
}

/* Says so in the log when that begins. */
static bool set_full(struct connections *connections, bool full)
{
    if (full && !connections->full)
        log_warning("too many connections: clients are refused");
    connections->full = full;
    return full;
}

static bool connections_has_its_share(const struct connections *connections,
                                      const struct peer *peer)
{
    return count_peer(connections, peer) >= connections->limits.per_peer;
}

static void turn_away(int fd, const struct entrance *entrance,
                      const struct connections_refusal *refusal)
{
    const char *text = entrance->service ? refusal->http : refusal->line;

    metrics_count(METRIC_REFUSALS, refusal->reason, NULL);
    if (!entrance->tls)
        (void)send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
    close(fd);
}

/* Says so in the log when that begins. */
static void connections_refuse_insider(struct connections *connections, int fd,
                                       const struct peer *peer, const struct entrance *entrance)
{
    if (!connections->has_insider)
        log_warning("a script tried to call this server and was refused");
    connections->has_insider = true;
    turn_away(fd, entrance, &insider_refusals[peer->insider]);
}

static void evict_oldest_waiting(struct connections *connections)
{
    struct connection *oldest = NULL;
    unsigned waiting = 0;

    LIST_FOR_EACH (&connections->active, link) {
        struct connection *connection = CONTAINER_OF(link, struct connection, link);

        if (!connection->waiting)
            continue;
        waiting++;
        if (!oldest)
            oldest = connection;
    }
    if (waiting >= CONNECTIONS_WAITING)
        connection_free(oldest);
}

/* The way in */

static void connections_on_login_done(struct login *login, bool accepted)
{
    struct connection *connection = CONTAINER_OF(login, struct connection, login);
    struct connections *owner = connection->owner;
    bool waited = connection->waiting;

    if (accepted && waited &&
        set_full(owner, connections_has_its_share(owner, &connection->peer))) {
        (void)send(connection->fd, no_room.line, strlen(no_room.line), MSG_DONTWAIT | MSG_NOSIGNAL);
        accepted = false;
    }
    if (!accepted) {
        connections_leave(connection);
        return;
    }
    connection->waiting = false;
    connections_serve(connection, connection->fd, 0);
    stream_receive(&connection->stream, buffer_bytes(&login->received),
                   buffer_length(&login->received));
    login_deinit(login);
}

static void begin_login(struct connection *connection)
{
    struct connections *owner = connection->owner;

    connection->login = (struct login){
        .loop = owner->loop,
        .authority = owner->authority,
        .peer = connection->peer,
        .seconds = owner->limits.login_seconds,
        .fd = connection->fd,
        .done = connections_on_login_done,
    };
    login_start(&connection->login);
}

/* The client has sent a valid request. False: it has too many connections. */
static bool connections_on_http_admit(struct http_connection *http)
{
    struct connection *connection = CONTAINER_OF(http, struct connection, http);
    struct connections *owner = connection->owner;

    if (set_full(owner, connections_has_its_share(owner, &connection->peer)))
        return false;
    connection->waiting = false;
    return true;
}

static void connections_on_http_closed(struct http_connection *http)
{
    connections_leave(CONTAINER_OF(http, struct connection, http));
}

/* Ends connections whose peer acknowledges nothing for so long. */
static void set_patience(int fd, const struct connection *connection)
{
    unsigned milliseconds = (unsigned)(connection->owner->limits.http.stall_seconds * 1000);

    if (connection->peer.family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
}

static struct http_channel *open_channel(const struct entrance *entrance, int fd)
{
    return entrance->tls ? tls_accept(entrance->tls, fd) : channel_new_plain(fd);
}

static void serve_http(struct connection *connection, const struct entrance *entrance)
{
    struct connections *owner = connection->owner;

    log_info("connection accepted number=%u", connection->number);
    set_patience(connection->fd, connection);
    connection->kind = CONNECTION_HTTP;
    http_connection_init(&connection->http,
                         &(struct http_connection_settings){
                             .loop = owner->loop,
                             .service = entrance->service,
                             .limits = &owner->limits.http,
                             .peer = &connection->peer,
                             .entrance = entrance,
                             .channel = open_channel(entrance, STEAL_FD(connection->fd)),
                             .number = connection->number,
                             .admit = connections_on_http_admit,
                             .closed = connections_on_http_closed,
                         });
}

void connections_admit(struct connections *connections, int fd, const struct peer *peer,
                       const struct entrance *entrance)
{
    bool has_login = peer->family != AF_UNIX;
    bool waiting = entrance->service || (has_login && connections->authority);
    struct connection *connection;
    bool full;

    if (peer->insider != INSIDER_NO) {
        connections_refuse_insider(connections, fd, peer, entrance);
        return;
    }
    connections->has_insider = false;
    if (waiting)
        evict_oldest_waiting(connections);
    full = connections->count >= connections->limits.connections ||
           (!waiting && connections_has_its_share(connections, peer));
    if (set_full(connections, full)) {
        turn_away(fd, entrance, &no_room);
        return;
    }
    connection = connection_new(connections, fd, peer);
    connection->waiting = waiting;
    if (entrance->service)
        serve_http(connection, entrance);
    else if (has_login)
        begin_login(connection);
    else
        connections_serve(connection, fd, 0);
}

void connections_add_stdio(struct connections *connections, int in, int out)
{
    struct peer self = {.family = AF_UNIX, .number = geteuid()};

    connections->stdio = connection_new(connections, in, &self);
    connections_serve(connections->stdio, out, STDIO_GRACE_SECONDS);
}

/* The way out */

static bool is_over(struct connection *connection)
{
    switch (connection->kind) {
    case CONNECTION_STREAM:
        return stream_settle(&connection->stream);
    case CONNECTION_HTTP:
    case CONNECTION_LOGIN:
        break;
    }
    return true;
}

/* Frees connections here only, never in their own callbacks. */
static void connections_on_settle(struct ev_loop *loop, struct ev_prepare *watcher, int events)
{
    struct connections *connections = CONTAINER_OF(watcher, struct connections, settle);
    unsigned before = connections->count;

    (void)loop;
    (void)events;
    LIST_FOR_EACH_SAFE (&connections->leaving, link) {
        struct connection *connection = CONTAINER_OF(link, struct connection, link);

        if (is_over(connection))
            connection_free(connection);
    }
    if (connections->count < before || connections->stopping)
        connections->closed(connections);
}

void connections_init(struct connections *connections)
{
    list_init(&connections->active);
    list_init(&connections->leaving);
    ev_prepare_init(&connections->settle, connections_on_settle);
    ev_set_priority(&connections->settle, EV_MINPRI); /* behind everything that may end a call */
    ev_prepare_start(connections->loop, &connections->settle);
}

static void connections_free_all(struct list *list)
{
    LIST_FOR_EACH_SAFE (list, link) {
        connection_free(CONTAINER_OF(link, struct connection, link));
    }
}

void connections_deinit(struct connections *connections)
{
    ev_prepare_stop(connections->loop, &connections->settle);
    connections_free_all(&connections->active);
    connections_free_all(&connections->leaving);
}

static void connections_stop_one(struct connection *connection)
{
    switch (connection->kind) {
    case CONNECTION_STREAM:
        stream_stop(&connection->stream);
        return;
    case CONNECTION_HTTP:
        http_connection_stop(&connection->http);
        return;
    case CONNECTION_LOGIN:
        login_deinit(&connection->login);
        connections_leave(connection);
        return;
    }
}

static void stop_all(struct list *list)
{
    LIST_FOR_EACH_SAFE (list, link) {
        connections_stop_one(CONTAINER_OF(link, struct connection, link));
    }
}

void connections_stop(struct connections *connections)
{
    connections->stopping = true;
    stop_all(&connections->leaving);
    stop_all(&connections->active);
}
