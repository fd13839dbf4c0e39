#include "environments/egress/helper/upstream_tunnel.h"

#include "base/clock.h"
#include "environments/egress/helper/relay.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define UPSTREAM_SECONDS 40.0 /* the proxy has to connect as well */

enum { UPSTREAM_HEAD_BYTES = 8192, UPSTREAM_FAILED = 502 };

/* Reads one byte at a time, because the bytes after the head are the destination's. */
static bool upstream_read_head(int far, char *head, double deadline)
{
    size_t length = 0;

    while (length < UPSTREAM_HEAD_BYTES) {
        struct pollfd readable = {.fd = far, .events = POLLIN};
        const double left = deadline - clock_seconds();

        if (left <= 0 || poll(&readable, 1, (int)(left * 1e3) + 1) <= 0 ||
            recv(far, head + length, 1, 0) != 1)
            return false;
        head[++length] = '\0';
        if (length >= 4 && strcmp(head + length - 4, "\r\n\r\n") == 0)
            return true;
    }
    return false;
}

static bool upstream_ask(int far, const struct upstream *upstream, const struct destination *wanted,
                         double deadline)
{
    char place[DESTINATION_HOST_BYTES + sizeof "[]:65535"];
    char request[2 * sizeof place + UPSTREAM_LOGIN_BYTES + 100];
    int length;

    destination_print(wanted, place, sizeof place);
    length = snprintf(request, sizeof request, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n",
                      place, place, *upstream->login ? "Proxy-Authorization: Basic " : "",
                      upstream->login, *upstream->login ? "\r\n" : "");
    return relay_send(far, request, (size_t)length, deadline);
}

int upstream_tunnel(int far, const struct upstream *upstream, const struct destination *wanted,
                    struct destination_refusal *refusal)
{
    static const char status[] = "HTTP/1.x ";
    const double deadline = clock_seconds() + UPSTREAM_SECONDS;
    char head[UPSTREAM_HEAD_BYTES + 1] = "";

    if (upstream_ask(far, upstream, wanted, deadline) && upstream_read_head(far, head, deadline) &&
        strncmp(head, "HTTP/1.", strlen("HTTP/1.")) == 0 && head[strlen(status)] == '2')
        return 0;
    refusal->status = UPSTREAM_FAILED;
    refusal->reply = PROXY_SOCKS_FAILED;
    if (strlen(head) > strlen(status) + 3)
        snprintf(refusal->text, refusal->size, "%s:%u: the proxy %s:%u answers %.3s", wanted->host,
                 wanted->port, upstream->place.host, upstream->place.port, head + strlen(status));
    else
        snprintf(refusal->text, refusal->size, "%s:%u: the proxy %s:%u does not answer",
                 wanted->host, wanted->port, upstream->place.host, upstream->place.port);
    return -1;
}
