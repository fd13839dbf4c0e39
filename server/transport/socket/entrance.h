/* How clients of one address are served. It outlives the listening socket: connections refer to it.
 */
#pragma once

#include "base/list.h"
#include "server/transport/socket/address.h"

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
