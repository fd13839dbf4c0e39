#include "server/transport/connections.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/transport/http/tls.h"

#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So that `printf ... | pyexecd` shows the answer of a quick call. */
#define STDIO_GRACE_SECONDS 1.0

/* One connection */

static struct connection *connection_new(struct connections *owner, int fd, const struct peer *peer)
{
    struct connection *connection = NEW(struct connection);

    connection->owner = owner;
    connection->fd = fd;
    connection->holder = holder_of(peer, NULL);
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

    peer_format_principal(&connection->holder.peer, peer);
    if (!*principal)
        principal = peer;
    log_info("connection accepted number=%u principal=%s", connection->number, principal);
    connection->kind = CONNECTION_STREAM;
    stream_init(&connection->stream, &(struct stream_settings){
                                         .loop = owner->loop,
                                         .server = owner->server,
                                         .limits = &owner->limits,
                                         .principal = principal,
                                         .is_local = peer_is_local(&connection->holder.peer),
                                         .number = connection->number,
                                         .in = STEAL_FD(connection->fd),
                                         .out = out,
                                         .grace_seconds = grace_seconds,
                                         .leaving = connections_on_leaving,
                                     });
}

/* Room */

typedef bool (*connections_relation)(const struct holder *holder, const struct holder *other);
typedef bool (*connections_property)(const struct connection *connection);

static bool connection_is_waiting(const struct connection *connection)
{
    return connection->waiting;
}

/* It is kept for a further request only: its client expects that it may be closed. */
static bool connection_is_idle(const struct connection *connection)
{
    return connection->kind == CONNECTION_HTTP && connection->http.state == HTTP_CONNECTION_IDLE;
}

/* A connection that another replica keeps open between two requests is nobody's. */
static bool connection_is_known(const struct connection *connection)
{
    return !connection->waiting &&
           !(connection_is_idle(connection) && connection->http.is_forwarded);
}

/* How many connections HAVE a property and are IS of HOLDER. */
static unsigned connections_count(const struct connections *connections, connections_property have,
                                  const struct holder *holder, connections_relation is)
{
    const struct list *lists[] = {&connections->active, &connections->leaving};
    unsigned count = 0;

    for (size_t i = 0; i < 2; i++) {
        LIST_FOR_EACH (lists[i], link) {
            const struct connection *connection = CONTAINER_OF(link, struct connection, link);

            count += have(connection) && is(&connection->holder, holder);
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
                                      const struct holder *holder)
{
    unsigned own = connections->limits.per_peer;
    unsigned half = (connections->limits.connections + 1) / 2;

    return connections_count(connections, connection_is_known, holder, holder_is) >= own ||
           connections_count(connections, connection_is_known, holder, holder_is_kin) >=
               (own > half ? own : half);
}

/* Says so in the log when that begins. */
static void connections_refuse_insider(struct connections *connections, int fd,
                                       const struct peer *peer, const struct entrance *entrance)
{
    if (!connections->has_insider)
        log_warning("%s", peer->insider == INSIDER_YES
                              ? "a script tried to call this server and was refused"
                              : "a client was refused: it had left, or it hides");
    connections->has_insider = true;
    dismissal_carry_out(dismissal_of_insider(peer->insider), fd, entrance);
}

static unsigned connections_waiting(const struct connections *connections)
{
    unsigned waiting = 0;

    LIST_FOR_EACH (&connections->active, link) {
        waiting += CONTAINER_OF(link, struct connection, link)->waiting;
    }
    return waiting;
}

/* Ends the oldest connection that HAVE accepts, of the holder with most such connections. False:
 * there is none. */
static bool connections_evict(struct connections *connections, connections_property have)
{
    struct connection *victim = NULL;
    unsigned most = 0;

    LIST_FOR_EACH (&connections->active, link) {
        struct connection *connection = CONTAINER_OF(link, struct connection, link);
        unsigned count;

        if (!have(connection))
            continue;
        count = connections_count(connections, have, &connection->holder, holder_is);
        if (count <= most)
            continue;
        most = count;
        victim = connection;
    }
    if (victim)
        connection_free(victim);
    return victim != NULL;
}

/* Makes room for a connection that waits. */
static void connections_make_room(struct connections *connections)
{
    const bool is_full = connections->count >= connections->limits.connections;
    bool has_room = !is_full && connections_waiting(connections) < CONNECTIONS_WAITING;

    if (!has_room)
        has_room = connections_evict(connections, connection_is_waiting);
    if (!has_room)
        (void)connections_evict(connections, connection_is_idle);
}

/* The way in */

static void connections_on_login_done(struct login *login, bool accepted)
{
    struct connection *connection = CONTAINER_OF(login, struct connection, login);
    struct connections *owner = connection->owner;
    bool waited = connection->waiting;

    if (waited)
        connection->holder = holder_of(&login->peer, login->check.principal);
    if (accepted && waited &&
        set_full(owner, connections_has_its_share(owner, &connection->holder))) {
        (void)send(connection->fd, dismissal_no_room.line, strlen(dismissal_no_room.line),
                   MSG_DONTWAIT | MSG_NOSIGNAL);
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
        .peer = connection->holder.peer,
        .seconds = owner->limits.login_seconds,
        .fd = connection->fd,
        .done = connections_on_login_done,
    };
    login_start(&connection->login);
}

/* The client has sent a valid request. False: it has too many connections. */
static bool connections_on_http_admit(struct http_connection *http, const char *principal)
{
    struct connection *connection = CONTAINER_OF(http, struct connection, http);
    struct connections *owner = connection->owner;
    const struct holder holder = holder_of(&connection->holder.peer, principal);

    connection->waiting = true; /* a forwarded request before this one does not count, too */
    if (set_full(owner, connections_has_its_share(owner, &holder)))
        return false;
    connection->holder = holder;
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

    if (connection->holder.peer.family != AF_UNIX)
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
                             .peer = &connection->holder.peer,
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
    const struct holder holder = holder_of(peer, NULL);
    struct connection *connection;
    bool full;

    if (peer->insider != INSIDER_NO) {
        connections_refuse_insider(connections, fd, peer, entrance);
        return;
    }
    connections->has_insider = false;
    if (waiting)
        connections_make_room(connections);
    full = connections->count >= connections->limits.connections ||
           (!waiting && connections_has_its_share(connections, &holder));
    if (set_full(connections, full)) {
        dismissal_carry_out(&dismissal_no_room, fd, entrance);
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
    ev_set_priority(&connections->settle, EV_MINPRI); /* behind all watchers that may end a call */
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
