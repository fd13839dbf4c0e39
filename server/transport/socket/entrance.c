#include "server/transport/socket/entrance.h"

#include "base/memory.h"

#include <stdlib.h>

static in_port_t entrance_port_of(const struct endpoint *endpoint)
{
    switch (endpoint->any.sa_family) {
    case AF_INET:
        return ntohs(endpoint->ipv4.sin_port);
    case AF_INET6:
        return ntohs(endpoint->ipv6.sin6_port);
    default:
        return 0;
    }
}

struct entrance *entrance_new(struct http_service *service, const char *path,
                              const struct endpoint *endpoint)
{
    struct entrance *entrance = NEW(struct entrance);

    list_init(&entrance->link);
    entrance->service = service;
    entrance->path = path ? memory_copy_string(path) : NULL;
    entrance->port = entrance_port_of(endpoint);
    return entrance;
}

void entrance_free(struct entrance *entrance)
{
    list_remove(&entrance->link);
    free(entrance->path);
    free(entrance);
}
