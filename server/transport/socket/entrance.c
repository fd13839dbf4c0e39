#include "server/transport/socket/entrance.h"

#include "base/memory.h"
#include "base/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

#define NO_ROOM_LINE                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"                                 \
    "\"message\":\"Too many connections; try again later\"}}\n"

const struct dismissal dismissal_no_room = {"no_room", NO_ROOM_LINE,
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
    "\"message\":\"The process that has connected cannot be found. It may be a script of this "    \
    "server, so it is not served.\"}}\n"

#define FORBIDDEN_HEAD                                                                             \
    "HTTP/1.1 403 Forbidden\r\n"                                                                   \
    "Content-Type: application/json\r\n"                                                           \
    "Connection: close\r\n"                                                                        \
    "\r\n"

const struct dismissal *dismissal_of_insider(enum insider insider)
{
    static const struct dismissal dismissals[] = {
        [INSIDER_YES] = {"insider", INSIDER_LINE, FORBIDDEN_HEAD INSIDER_LINE},
        [INSIDER_UNKNOWN] = {"insider", STRANGER_LINE, FORBIDDEN_HEAD STRANGER_LINE},
    };

    return &dismissals[insider];
}

void dismissal_carry_out(const struct dismissal *dismissal, int fd, const struct entrance *entrance)
{
    const char *text = entrance->service ? dismissal->http : dismissal->line;

    metrics_count(METRIC_REFUSALS, dismissal->reason, NULL);
    if (!entrance->tls)
        (void)send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
    close(fd);
}
