/* Bytes in, bytes out: where the server listens, and the connections it has.
 *
 * stdio, unix and TCP sockets share one framing, a JSON message per line, and one implementation,
 * `stream`. The transport knows nothing of JSON: it splits lines, keeps limits and time, and hands
 * lines to the session that each connection embeds. HTTP is the other framing: `http/`. */
#pragma once

#include "base/error.h"
#include "server/transport/http/http_limits.h"
#include "server/transport/socket/insider.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct authority;
struct http_service;
struct mcp_server;
struct tls;
struct transport;

struct transport_limits {
    size_t line_bytes;    /* longest message taken; a longer one is skipped and answered */
    size_t unsent_bytes;  /* above it, reading from the client stops */
    double stall_seconds; /* a client that takes none of its output for so long is closed */
    unsigned connections; /* in all */
    unsigned per_peer;    /* per address or, on a unix socket, per uid */
    double login_seconds; /* time for the first line on TCP */
    struct http_limits http;
};

extern const struct transport_limits transport_default_limits;

struct transport_settings {
    struct ev_loop *loop;         /* borrowed */
    struct mcp_server *server;    /* borrowed */
    const char *const *addresses; /* NULL-terminated; borrowed until transport_open returns */
    struct authority *authority;  /* of TCP clients; NULL: there is none; borrowed */
    struct tls *tls;              /* of https addresses; NULL: there is none; borrowed */
    bool auth_none;               /* `auth: none` is set: TCP clients need no token */
    struct http_service *http;    /* of HTTP addresses; NULL: there can be none; borrowed */
    struct transport_limits limits;
    struct insider_judge judge; /* all zero: nobody can tell */
    bool is_secondary;          /* another transport notifies the service manager */

    /* The stdio peer is gone (end of file, broken pipe) and its output is flushed; or the last
     * connection is closed after transport_stop. Called from the loop, once; the transport must not
     * be freed in it. */
    void (*finished)(void *data);
    void *data;
};

/* Opens all addresses, or none: NULL, and ERR names the address. Then tells a service manager that
 * the server is ready. */
struct transport *transport_open(const struct transport_settings *settings, struct error *err);

/* Connections that there are now. */
unsigned transport_connection_count(const struct transport *transport);

/* Tell a service manager that a reload of the configuration begins, and its end. */
void transport_begin_reload(struct transport *transport);
void transport_end_reload(struct transport *transport);

/* Stops accepting and reading, cancels what runs, flushes, then calls `finished`. */
void transport_stop(struct transport *transport);

/* Closes everything at once and removes unix sockets. */
void transport_free(struct transport *transport);
