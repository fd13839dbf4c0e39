/* Where the server listens, as the operator writes it:
 *
 *     stdio                 standard input and output
 *     unix:/absolute/path   a socket in the file system
 *     unix:///PATH#/mcp     the same, /PATH, that speaks HTTP at /mcp
 *     tcp:HOST:PORT         HOST is a literal (127.0.0.1, [::1], 0.0.0.0) or `localhost` for both
 *                           families of loopback; port 0 lets the kernel choose
 *     http://HOST:PORT/mcp  HTTP at /mcp, which need not be written
 *     https://HOST:PORT/mcp the same in TLS
 *     systemd               every socket that the service manager handed over */
#pragma once

#include "base/error.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define ADDRESS_HTTP_PATH "/mcp" /* of an HTTP address that names none */

enum address_kind {
    ADDRESS_STDIO,
    ADDRESS_UNIX,
    ADDRESS_UNIX_HTTP,
    ADDRESS_TCP,
    ADDRESS_HTTP,
    ADDRESS_HTTPS,
    ADDRESS_SYSTEMD,
};

enum {
    ADDRESS_ENDPOINTS = 2,    /* localhost: one per family */
    ADDRESS_PATH_BYTES = 128, /* of HTTP, with its NUL */
    ADDRESS_TEXT_BYTES = 320, /* "unix://", a full sun_path, "#", a path and more */
};

/* An address for bind(2) and accept(2). */
struct endpoint {
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    };
    socklen_t length;
};

struct address {
    enum address_kind kind;
    struct endpoint endpoints[ADDRESS_ENDPOINTS]; /* of all sockets of our own */
    unsigned endpoint_count;
    char path[ADDRESS_PATH_BYTES]; /* of HTTP; "": it is not */
};

/* Reads TEXT, or fails with ERROR_CONFIG and a sentence that says what can be written instead.
 * Nothing is looked up or opened. */
int address_parse(const char *text, struct address *ret, struct error *err);

/* True for IPv4 and IPv6 addresses that only this machine can reach. */
bool endpoint_is_loopback(const struct endpoint *endpoint);

/* Writes ENDPOINT in the form that address_parse reads. KIND: the protocol that is spoken there;
 * PATH: where, if that is HTTP. */
void address_format(const struct endpoint *endpoint, enum address_kind kind, const char *path,
                    char text[static ADDRESS_TEXT_BYTES]);
