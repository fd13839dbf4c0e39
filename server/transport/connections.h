/* The connections of one server: how many there may be, and when each is freed.
 *
 * A client of a socket that asks for a token is WAITING until it has shown the token, and a client
 * of HTTP until the server has accepted a request of it. Waiting clients have a small number of
 * places of their own, and a new client takes the place of the oldest waiting client of the holder
 * that has most of them: so a holder that fills all places keeps no other holder out. If all places
 * of the server are taken, a new client takes the place of a waiting client, or of a client that is
 * idle between two requests. All other clients count for a limit per client, and the clients of one
 * user or address may have half of all places. */
#pragma once

#include "base/list.h"
#include "server/transport/http/http_connection.h"
#include "server/transport/identity/holder.h"
#include "server/transport/login.h"
#include "server/transport/socket/entrance.h"
#include "server/transport/stream.h"
#include "server/transport/transport.h"

#include <ev.h>
#include <stdbool.h>

enum { CONNECTIONS_WAITING = 64 };

struct connections;

enum connection_kind {
    CONNECTION_LOGIN, /* becomes a stream */
    CONNECTION_STREAM,
    CONNECTION_HTTP,
};

struct connection {
    struct list link;          /* in `active` or `leaving` */
    struct connections *owner; /* borrowed */
    struct holder holder;      /* the client that it counts for when it is not waiting */
    unsigned number;           /* for the log */
    enum connection_kind kind;
    bool waiting; /* the client is not identified yet */
    int fd;       /* owned while LOGIN; then -1 */
    struct login login;
    union {
        struct stream stream;        /* while STREAM */
        struct http_connection http; /* while HTTP */
    };
};

struct connections {
    /* Inputs, set before connections_init. */
    struct ev_loop *loop;      /* borrowed */
    struct mcp_server *server; /* borrowed */
    struct transport_limits limits;
    struct authority *authority; /* borrowed; of TCP clients; NULL: they need no token */
    struct insider_judge judge;

    /* Connections have been freed, or there were none at connections_stop. Called from the loop,
     * possibly more often than necessary. */
    void (*closed)(struct connections *connections);

    unsigned count;           /* the connections that are left */
    struct connection *stdio; /* borrowed: the connection without a socket, or NULL */

    /* Private. */
    struct list active;  /* of struct connection: owned; oldest first */
    struct list leaving; /* of struct connection: owned; to be settled before the loop sleeps */
    unsigned last_number;
    bool stopping;
    bool full;        /* the last client was refused for want of room: said once in the log */
    bool has_insider; /* the last client was refused as a script of ours: likewise */
    struct ev_prepare settle;
};

void connections_init(struct connections *connections);
void connections_deinit(struct connections *connections);

/* Takes a new client in, or tells it why not: it is a script of ours, or there is no room. FD is
 * taken, and non-blocking. ENTRANCE is borrowed for as long as there are connections. */
void connections_admit(struct connections *connections, int fd, const struct peer *peer,
                       const struct entrance *entrance);

/* Serves IN and OUT, which are taken, for the user who started the server. Once. */
void connections_add_stdio(struct connections *connections, int in, int out);

/* Ends all connections: running calls are cancelled, and unsent output may still be taken for a
 * moment. */
void connections_stop(struct connections *connections);
