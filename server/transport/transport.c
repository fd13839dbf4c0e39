#include "server/transport/transport.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "server/transport/connections.h"
#include "server/transport/listener.h"
#include "server/transport/notify.h"
#include "server/transport/socket/activation.h"
#include "server/transport/socket/address.h"
#include "server/transport/socket/entrance.h"
#include "server/transport/standard_io.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum transport_state {
    TRANSPORT_SERVING,
    TRANSPORT_STOPPING, /* waits for its connections */
    TRANSPORT_OVER,     /* `finished` was called */
};

static const struct state transport_states[] = {
    [TRANSPORT_SERVING] = {"serving", 1 << TRANSPORT_STOPPING | 1 << TRANSPORT_OVER},
    [TRANSPORT_STOPPING] = {"stopping", 1 << TRANSPORT_OVER},
    [TRANSPORT_OVER] = {"over", 0},
};

struct transport {
    enum transport_state state;
    struct connections connections;
    struct list entrances; /* of struct entrance: owned */
    struct list listeners; /* of struct listener: owned */
    struct http_service *http;
    struct tls *tls;
    struct standard_io stdio;
    struct notify notify;
    bool auth_none;
    bool has_stdio;
    void (*finished)(void *data);
    void *data;
};

const struct transport_limits transport_default_limits = {
    .line_bytes = 4 * 1024 * 1024,
    .unsent_bytes = 8 * 1024 * 1024,
    .stall_seconds = 30,
    .connections = 256,
    .per_peer = 32,
    .login_seconds = 10,
    .http = {.head_seconds = 10,
             .idle_seconds = 60,
             .body_seconds = 30,
             .body_grace_seconds = 5,
             .body_bytes_per_second = 1024,
             .stall_seconds = 30,
             .comment_seconds = 15,
             .linger_seconds = 2,
             .linger_bytes = 1024 * 1024,
             .body_bytes = 4 * 1024 * 1024,
             .read_ahead_bytes = 64 * 1024,
             .congested_bytes = 256 * 1024,
             .unsent_bytes = 8 * 1024 * 1024},
};

static void transport_set_state(struct transport *transport, enum transport_state state)
{
    state_change(transport_states, transport->state, state, "transport");
    transport->state = state;
}

/* Opening */

static void add_listener(struct transport *transport, int fd, const struct endpoint *endpoint,
                         const struct socket_file *file, const struct address *address)
{
    const char *path = address->path[0] ? address->path : NULL;
    struct entrance *entrance = entrance_new(path ? transport->http : NULL, path, endpoint);
    struct listener *listener = listener_new(&transport->connections, fd, file, entrance);
    char text[ADDRESS_TEXT_BYTES];

    list_append(&transport->entrances, &entrance->link);
    list_append(&transport->listeners, &listener->link);
    entrance->tls = address->kind == ADDRESS_HTTPS ? transport->tls : NULL;
    address_format(endpoint, address->kind, address->path, text);
    log_info("listening address=%s", text);
}

static int check_http(const struct transport *transport, const struct address *address,
                      struct error *err)
{
    if (!address->path[0] || transport->http)
        return 0;
    return error_set(err, ERROR_CONFIG, "HTTP is not served here");
}

static int check_tls(const struct transport *transport, const struct address *address,
                     struct error *err)
{
    if (address->kind != ADDRESS_HTTPS || transport->tls)
        return 0;
    return error_set(err, ERROR_CONFIG, "it needs tls: {certificate: FILE, key: FILE}");
}

static int open_unix(struct transport *transport, const struct address *address, struct error *err)
{
    struct socket_file file;
    int fd;

    if (check_http(transport, address, err) < 0)
        return -1;
    fd = socket_open_unix(&address->endpoints[0], &file, err);
    if (fd < 0)
        return -1;
    add_listener(transport, fd, &address->endpoints[0], &file, address);
    return 0;
}

/* Clients of ENDPOINT must show a token, unless it is a loopback address and `auth: none` is set.
 */
static int transport_check_allowed(const struct transport *transport,
                                   const struct endpoint *endpoint, struct error *err)
{
    bool is_local = endpoint_is_loopback(endpoint);

    if (transport->connections.authority || (is_local && transport->auth_none))
        return 0;
    if (is_local)
        return error_set(err, ERROR_CONFIG,
                         "every user of this machine could connect: name a `token_file` "
                         "(--token-file) or `oauth`, "
                         "or write `auth: none`");
    return error_set(
        err, ERROR_CONFIG,
        "everybody who reaches this machine could connect: name a `token_file` or `oauth`%s",
        transport->auth_none ? "; `auth: none` is for loopback addresses only" : "");
}

/* A token that crosses a network in clear can be read on its way. */
static void warn_of_clear_text(const struct endpoint *endpoint)
{
    if (!endpoint_is_loopback(endpoint))
        log_warning("tokens and scripts cross the network in clear; put TLS in front of it");
}

static in_port_t *transport_port_of(struct endpoint *endpoint)
{
    return endpoint->any.sa_family == AF_INET ? &endpoint->ipv4.sin_port
                                              : &endpoint->ipv6.sin6_port;
}

/* Opens ENDPOINT, of ADDRESS, and writes back the port that the kernel chose. */
static int open_endpoint(struct transport *transport, struct endpoint *endpoint,
                         const struct address *address, struct error *err)
{
    static const struct socket_file no_file = {0};
    int fd =
        transport_check_allowed(transport, endpoint, err) < 0 ? -1 : socket_open_tcp(endpoint, err);

    if (fd < 0)
        return -1;
    if (socket_get_endpoint(fd, endpoint, err) < 0) {
        close(fd);
        return -1;
    }
    add_listener(transport, fd, endpoint, &no_file, address);
    if (address->kind != ADDRESS_HTTPS)
        warn_of_clear_text(endpoint);
    return 0;
}

static bool is_missing(const struct error *err)
{
    return err->number == EAFNOSUPPORT || err->number == EADDRNOTAVAIL;
}

/* Opens IPv4 and IPv6 on the same port. Either may be missing. */
static int open_tcp(struct transport *transport, const struct address *address, struct error *err)
{
    in_port_t port = 0;
    unsigned opened = 0;

    if (check_http(transport, address, err) < 0 || check_tls(transport, address, err) < 0)
        return -1;
    for (unsigned i = 0; i < address->endpoint_count; i++) {
        struct endpoint endpoint = address->endpoints[i];
        bool is_last_hope = opened == 0 && i + 1 == address->endpoint_count;
        struct error missing = ERROR_INIT;

        if (port)
            *transport_port_of(&endpoint) = port;
        if (open_endpoint(transport, &endpoint, address, &missing) < 0) {
            if (is_last_hope || !is_missing(&missing)) {
                *err = missing;
                return -1;
            }
            continue;
        }
        port = *transport_port_of(&endpoint);
        opened++;
    }
    return 0;
}

static int check_handed_over(const struct transport *transport,
                             const struct activation_socket *taken, struct error *err)
{
    if (check_http(transport, &taken->address, err) < 0 ||
        check_tls(transport, &taken->address, err) < 0)
        return -1;
    return taken->endpoint.any.sa_family == AF_UNIX
               ? 0
               : transport_check_allowed(transport, &taken->endpoint, err);
}

static int open_handed_over(struct transport *transport, const struct activation_socket *taken,
                            struct error *err)
{
    static const struct socket_file no_file = {0};
    char text[ADDRESS_TEXT_BYTES];

    if (check_handed_over(transport, taken, err) == 0) {
        add_listener(transport, taken->fd, &taken->endpoint, &no_file, &taken->address);
        return 0;
    }
    close(taken->fd);
    address_format(&taken->endpoint, taken->address.kind, taken->address.path, text);
    return error_prefix(err, "%s", text);
}

static int open_systemd(struct transport *transport, const struct address *address,
                        struct error *err)
{
    struct activation_socket sockets[ACTIVATION_SOCKETS];
    int count = activation_take(sockets, err);
    int status = count < 0 ? -1 : 0;

    (void)address;
    if (count == 0)
        return error_set(err, ERROR_CONFIG, "no sockets were handed over (LISTEN_FDS)");
    for (int i = 0; i < count; i++) {
        if (status == 0)
            status = open_handed_over(transport, &sockets[i], err);
        else
            close(sockets[i].fd);
    }
    return status;
}

/* Standard input and output are taken last: that cannot be undone. */
static int open_stdio(struct transport *transport, struct error *err)
{
    int in;
    int out;

    if (!transport->has_stdio)
        return 0;
    if (standard_io_open(&transport->stdio, &in, &out, err) < 0)
        return error_prefix(err, "cannot serve stdio");
    connections_add_stdio(&transport->connections, in, out);
    return 0;
}

static int note_stdio(struct transport *transport, const struct address *address, struct error *err)
{
    (void)address;
    if (transport->has_stdio)
        return error_set(err, ERROR_CONFIG, "it is named twice");
    transport->has_stdio = true;
    return 0;
}

static int (*const openers[])(struct transport *transport, const struct address *address,
                              struct error *err) = {
    [ADDRESS_STDIO] = note_stdio,     [ADDRESS_UNIX] = open_unix, [ADDRESS_UNIX_HTTP] = open_unix,
    [ADDRESS_TCP] = open_tcp,         [ADDRESS_HTTP] = open_tcp,  [ADDRESS_HTTPS] = open_tcp,
    [ADDRESS_SYSTEMD] = open_systemd,
};

static int open_addresses(struct transport *transport, const char *const *texts, struct error *err)
{
    for (; *texts; texts++) {
        struct address address;

        if (address_parse(*texts, &address, err) < 0 ||
            openers[address.kind](transport, &address, err) < 0)
            return error_prefix(err, "cannot serve %s", *texts);
    }
    return open_stdio(transport, err);
}

/* The end */

static void transport_on_closed(struct connections *connections)
{
    struct transport *transport = CONTAINER_OF(connections, struct transport, connections);
    bool is_last = transport->state == TRANSPORT_STOPPING && connections->count == 0;
    bool stdio_is_gone = transport->has_stdio && !connections->stdio;

    if (transport->state == TRANSPORT_OVER || (!is_last && !stdio_is_gone))
        return;
    if (transport->state == TRANSPORT_SERVING)
        notify_send(&transport->notify, "STOPPING=1");
    transport_set_state(transport, TRANSPORT_OVER);
    transport->finished(transport->data);
}

static void close_listeners(struct transport *transport)
{
    LIST_FOR_EACH_SAFE (&transport->listeners, link) {
        listener_free(CONTAINER_OF(link, struct listener, link));
    }
}

static void free_entrances(struct transport *transport)
{
    LIST_FOR_EACH_SAFE (&transport->entrances, link) {
        entrance_free(CONTAINER_OF(link, struct entrance, link));
    }
}

/* The transport itself */

struct transport *transport_open(const struct transport_settings *settings, struct error *err)
{
    struct transport *transport = NEW(struct transport);

    transport->stdio = (struct standard_io)STANDARD_IO_INIT;
    transport->auth_none = settings->auth_none;
    transport->finished = settings->finished;
    transport->data = settings->data;
    transport->http = settings->http;
    transport->tls = settings->tls;
    list_init(&transport->entrances);
    list_init(&transport->listeners);
    transport->connections = (struct connections){
        .loop = settings->loop,
        .server = settings->server,
        .authority = settings->authority,
        .limits = settings->limits,
        .judge = settings->judge,
        .closed = transport_on_closed,
    };
    connections_init(&transport->connections);
    if (settings->is_secondary)
        notify_init_silent(&transport->notify, settings->loop);
    else
        notify_init(&transport->notify, settings->loop);
    if (open_addresses(transport, settings->addresses, err) < 0) {
        transport_free(transport);
        return NULL;
    }
    notify_send(&transport->notify, "READY=1");
    return transport;
}

unsigned transport_connection_count(const struct transport *transport)
{
    return transport->connections.count;
}

void transport_begin_reload(struct transport *transport)
{
    notify_reloading(&transport->notify);
}

void transport_end_reload(struct transport *transport)
{
    notify_send(&transport->notify, "READY=1");
}

void transport_stop(struct transport *transport)
{
    notify_send(&transport->notify, "STOPPING=1");
    if (transport->state == TRANSPORT_SERVING)
        transport_set_state(transport, TRANSPORT_STOPPING);
    close_listeners(transport);
    connections_stop(&transport->connections);
}

void transport_free(struct transport *transport)
{
    if (!transport)
        return;
    close_listeners(transport);
    connections_deinit(&transport->connections);
    free_entrances(transport);
    standard_io_close(&transport->stdio);
    notify_deinit(&transport->notify);
    free(transport);
}
