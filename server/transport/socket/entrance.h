/* How clients of one address are served, or sent away. It outlives the listening socket:
 * connections refer to it. */
#pragma once

#include "base/list.h"
#include "server/transport/socket/address.h"
#include "server/transport/socket/insider.h"

struct http_service;
struct tls;

struct entrance {
    struct list link;             /* the owner's */
    struct http_service *service; /* borrowed; NULL: lines of messages */
    struct tls *tls;              /* borrowed; NULL: in clear */
    char *path;                   /* owned: where the HTTP service is; NULL: no HTTP */
    in_port_t port;               /* in host order; 0: a unix socket */
};

/* PATH is copied. */
struct entrance *entrance_new(struct http_service *service, const char *path,
                              const struct endpoint *endpoint);

/* Takes it out of its list. */
void entrance_free(struct entrance *entrance);

/* Clients that are sent away before they are served, and the messages that they get in either
 * framing. */
struct dismissal {
    const char *reason; /* in the metrics */
    const char *line;   /* a JSON-RPC message */
    const char *http;   /* a response */
};

extern const struct dismissal dismissal_no_room;

/* The dismissal of a client that is, or may be, a script of ours. */
const struct dismissal *dismissal_of_insider(enum insider insider);

/* Tells the client at FD, in the framing of ENTRANCE but never in TLS, and closes FD (taken). */
void dismissal_carry_out(const struct dismissal *dismissal, int fd,
                         const struct entrance *entrance);
