#include "environments/egress/helper/visit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "environments/egress/helper/destination_socket.h"
#include "environments/egress/helper/relay.h"
#include "environments/egress/helper/upstream_tunnel.h"
#include "environments/egress/proxy_head.h"
#include "environments/egress/proxy_socks.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define VISIT_HEAD_SECONDS   20.0 /* for the request, before the connection is made */
#define VISIT_LINGER_SECONDS 1.0  /* for a refused client to read the answer */

enum {
    VISIT_TEXT_BYTES = 512,
    VISIT_ANSWER_BYTES = 2048,
    BAD_REQUEST = 400,
    NOT_IMPLEMENTED = 501,
};

struct visit {
    int client;                      /* borrowed */
    const struct visit_rules *rules; /* borrowed */
    double deadline;
    char bytes[PROXY_HEAD_BYTES]; /* that were read and not yet used */
    size_t length;
};

/* Reads once; false at the end of the client or of its time. */
static bool visit_read(struct visit *visit)
{
    struct pollfd readable = {.fd = visit->client, .events = POLLIN};
    double left = visit->deadline - clock_seconds();
    ssize_t count;

    if (left <= 0 || visit->length == sizeof visit->bytes ||
        poll(&readable, 1, (int)(left * 1e3) + 1) <= 0)
        return false;
    count =
        recv(visit->client, visit->bytes + visit->length, sizeof visit->bytes - visit->length, 0);
    visit->length += count > 0 ? (size_t)count : 0;
    return count > 0;
}

static void visit_use(struct visit *visit, size_t length)
{
    memmove(visit->bytes, visit->bytes + length, visit->length - length);
    visit->length -= length;
}

static bool visit_say(struct visit *visit, const void *bytes, size_t length)
{
    return relay_send(visit->client, bytes, length, visit->deadline);
}

/* Reads the rest: if the client still sent when we closed, it would lose our answer. */
static void visit_end(struct visit *visit)
{
    shutdown(visit->client, SHUT_WR);
    visit->deadline = clock_seconds() + VISIT_LINGER_SECONDS;
    do
        visit->length = 0;
    while (visit_read(visit));
}

/* TEXT is both the reason phrase and the body, because a program shows its user only one. */
static void visit_refuse_head(struct visit *visit, unsigned status, const char *text)
{
    char answer[VISIT_ANSWER_BYTES];
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.1 %u %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n%s\n",
                          status, text, strlen(text) + 1, text);

    if (visit_say(visit, answer, (size_t)length))
        visit_end(visit);
}

static void visit_tunnel(struct visit *visit, int far)
{
    static const char answer[] = "HTTP/1.1 200 Connection established\r\n\r\n";

    if (visit_say(visit, answer, strlen(answer)))
        relay_run(visit->client, far, visit->bytes, visit->length);
}

/* A further proxy could take later bytes for another request, so it gets none. */
static void visit_pass_on(struct visit *visit, const struct proxy_head *head, size_t length,
                          const struct upstream *upstream, int far)
{
    struct error ignored = ERROR_INIT;
    struct buffer first;

    buffer_init(&first, 2 * sizeof visit->bytes);
    if (proxy_head_pass_on(head, upstream, &first, &ignored) == 0 &&
        relay_send(far, buffer_bytes(&first), buffer_length(&first), visit->deadline)) {
        visit_use(visit, length);
        if (upstream)
            relay_answer(visit->client, far);
        else
            relay_run(visit->client, far, visit->bytes, visit->length);
    }
    buffer_deinit(&first);
}

static const struct upstream *visit_upstream(const struct visit *visit,
                                             const struct destination *wanted, bool is_tunnel)
{
    return upstreams_find(&visit->rules->upstreams, wanted, is_tunnel);
}

/* A socket that is a tunnel to WANTED; or -1. */
static int visit_dig(const struct visit *visit, const struct destination *wanted,
                     struct destination_refusal *refusal)
{
    const struct upstream *upstream = visit_upstream(visit, wanted, true);
    int far = destination_socket(&visit->rules->open, wanted, upstream, refusal);

    if (far < 0 || !upstream || upstream_tunnel(far, upstream, wanted, refusal) == 0)
        return far;
    close(far);
    return -1;
}

static void visit_go(struct visit *visit, const struct proxy_head *head, size_t length)
{
    char text[VISIT_TEXT_BYTES];
    struct destination_refusal refusal = {.text = text, .size = sizeof text};
    const struct upstream *upstream = visit_upstream(visit, &head->destination, head->is_tunnel);
    int far;

    if (upstream && !head->is_tunnel && !proxy_head_has_no_body(head)) {
        visit_refuse_head(visit, NOT_IMPLEMENTED, "only GET and HEAD go through a further proxy");
        return;
    }
    far = head->is_tunnel
              ? visit_dig(visit, &head->destination, &refusal)
              : destination_socket(&visit->rules->open, &head->destination, upstream, &refusal);
    if (far < 0) {
        visit_refuse_head(visit, refusal.status, text);
        return;
    }
    visit->deadline = clock_seconds() + VISIT_HEAD_SECONDS;
    if (head->is_tunnel) {
        visit_use(visit, length);
        visit_tunnel(visit, far);
    } else {
        visit_pass_on(visit, head, length, upstream, far);
    }
    close(far);
}

static void visit_serve_http(struct visit *visit)
{
    struct proxy_head head;
    ssize_t length;

    while ((length = proxy_head_parse(visit->bytes, visit->length, &head)) == 0)
        if (!visit_read(visit))
            return;
    if (length > 0)
        visit_go(visit, &head, (size_t)length);
    else
        visit_refuse_head(visit, BAD_REQUEST,
                          "this proxy takes CONNECT host:port, and requests for http://host/path");
}

/* The address is 0: no program needs the address that we connected from. */
static bool visit_reply(struct visit *visit, enum proxy_socks_reply reply)
{
    const char bytes[] = {PROXY_SOCKS_VERSION, (char)reply, 0, 1, 0, 0, 0, 0, 0, 0};

    return visit_say(visit, bytes, sizeof bytes);
}

static bool visit_greet(struct visit *visit)
{
    static const char refused[] = {PROXY_SOCKS_VERSION, (char)0xff};
    static const char welcome[] = {PROXY_SOCKS_VERSION, 0};
    ssize_t length;

    while ((length = proxy_socks_parse_greeting(visit->bytes, visit->length)) == 0)
        if (!visit_read(visit))
            return false;
    if (length < 0) {
        (void)visit_say(visit, refused, sizeof refused);
        return false;
    }
    visit_use(visit, (size_t)length);
    return visit_say(visit, welcome, sizeof welcome);
}

static void visit_serve_socks(struct visit *visit)
{
    struct destination destination;
    enum proxy_socks_reply reply;
    char text[VISIT_TEXT_BYTES];
    struct destination_refusal refusal = {.text = text, .size = sizeof text};
    ssize_t length;
    int far;

    if (!visit_greet(visit))
        return;
    while ((length =
                proxy_socks_parse_request(visit->bytes, visit->length, &destination, &reply)) == 0)
        if (!visit_read(visit))
            return;
    far = length > 0 ? visit_dig(visit, &destination, &refusal) : -1;
    if (far < 0) {
        (void)visit_reply(visit, length > 0 ? refusal.reply : reply);
        visit_end(visit);
        return;
    }
    visit->deadline = clock_seconds() + VISIT_HEAD_SECONDS;
    visit_use(visit, (size_t)length);
    if (visit_reply(visit, PROXY_SOCKS_DONE))
        relay_run(visit->client, far, visit->bytes, visit->length);
    close(far);
}

void visit_serve(int client, const struct visit_rules *rules)
{
    AUTO_FREE struct visit *visit = NEW(struct visit);

    visit->client = client;
    visit->rules = rules;
    visit->deadline = clock_seconds() + VISIT_HEAD_SECONDS;
    if (!visit_read(visit))
        return;
    if (visit->bytes[0] == PROXY_SOCKS_VERSION)
        visit_serve_socks(visit);
    else
        visit_serve_http(visit);
}
