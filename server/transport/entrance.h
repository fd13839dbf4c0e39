/* How those are served who come in by one address. */
#pragma once

#include "base/list.h"

#include <netinet/in.h>

struct http_service;

struct entrance {
    struct list link;             /* the owner's */
    struct http_service *service; /* borrowed; NULL: lines of messages */
    char *path;                   /* owned: where an HTTP service is; NULL: no HTTP */
    in_port_t port;               /* in host order; 0: a unix socket */
};
