#include "server/transport/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PORT_DIGITS = 5,
    PORT_LARGEST = 65535,
};

static int parse_stdio(const char *rest, struct address *ret, struct error *err)
{
    (void)rest;
    (void)err;
    *ret = (struct address){.kind = ADDRESS_STDIO};
    return 0;
}

static int parse_systemd(const char *rest, struct address *ret, struct error *err)
{
    (void)rest;
    (void)err;
    *ret = (struct address){.kind = ADDRESS_SYSTEMD};
    return 0;
}

static int parse_unix(const char *path, struct address *ret, struct error *err)
{
    struct endpoint endpoint = {.local.sun_family = AF_UNIX, .length = sizeof(endpoint.local)};
    size_t length = strlen(path);
    size_t longest = sizeof(endpoint.local.sun_path) - 1;

    if (path[0] != '/')
        return error_set(err, ERROR_CONFIG, "the path of a unix socket must be absolute");
    if (path[length - 1] == '/')
        return error_set(err, ERROR_CONFIG, "the path of a unix socket must end in a file name");
    if (length > longest)
        return error_set(err, ERROR_CONFIG,
                         "the path of a unix socket is %zu bytes long, the limit is %zu", length,
                         longest);
    memcpy(endpoint.local.sun_path, path, length + 1);
    *ret = (struct address){
        .kind = ADDRESS_UNIX,
        .endpoints = {endpoint},
        .endpoint_count = 1,
    };
    return 0;
}

/* Decimal digits only: no sign, no space, nothing behind them. */
static int parse_port(const char *text, in_port_t *ret, struct error *err)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long port = strtoul(text, NULL, 10);

    if (digits == 0 || digits > PORT_DIGITS || text[digits] != '\0' || port > PORT_LARGEST)
        return error_set(err, ERROR_CONFIG, "the port must be a number from 0 to %d", PORT_LARGEST);
    *ret = htons((in_port_t)port);
    return 0;
}

static struct endpoint ipv4_endpoint(struct in_addr host, in_port_t port)
{
    return (struct endpoint){
        .ipv4 = {.sin_family = AF_INET, .sin_addr = host, .sin_port = port},
        .length = sizeof(struct sockaddr_in),
    };
}

static struct endpoint ipv6_endpoint(struct in6_addr host, in_port_t port)
{
    return (struct endpoint){
        .ipv6 = {.sin6_family = AF_INET6, .sin6_addr = host, .sin6_port = port},
        .length = sizeof(struct sockaddr_in6),
    };
}

/* HOST without the brackets of IPv6. No name but localhost: a resolver could answer anything. */
static int parse_host(const char *host, in_port_t port, struct address *ret, struct error *err)
{
    struct in_addr ipv4;
    struct in6_addr ipv6;

    *ret = (struct address){.kind = ADDRESS_TCP};
    if (strcmp(host, "localhost") == 0) {
        struct in_addr loopback = {.s_addr = htonl(INADDR_LOOPBACK)};

        ret->endpoints[ret->endpoint_count++] = ipv4_endpoint(loopback, port);
        ret->endpoints[ret->endpoint_count++] = ipv6_endpoint(in6addr_loopback, port);
    } else if (inet_pton(AF_INET, host, &ipv4) == 1) {
        ret->endpoints[ret->endpoint_count++] = ipv4_endpoint(ipv4, port);
    } else if (inet_pton(AF_INET6, host, &ipv6) == 1) {
        ret->endpoints[ret->endpoint_count++] = ipv6_endpoint(ipv6, port);
    } else {
        return error_set(err, ERROR_CONFIG, "the host must be an IP address or localhost, not %s",
                         host[0] ? host : "empty");
    }
    return 0;
}

/* Takes the brackets off "[::1]" and refuses IPv6 without them, since it ends in what looks like a
 * port. */
static int strip_brackets(char **host, struct error *err)
{
    size_t length = strlen(*host);
    bool bracketed = length >= 2 && (*host)[0] == '[' && (*host)[length - 1] == ']';

    if (bracketed != (strchr(*host, ':') != NULL))
        return error_set(err, ERROR_CONFIG,
                         "an IPv6 host, and no other, is written in brackets: tcp:[::1]:PORT");
    if (bracketed) {
        (*host)[length - 1] = '\0';
        (*host)++;
    }
    return 0;
}

static int parse_tcp(const char *rest, struct address *ret, struct error *err)
{
    const char *colon = strrchr(rest, ':');
    char copy[ADDRESS_TEXT_BYTES];
    char *host = copy;
    struct address address;
    in_port_t port = 0;

    if (!colon)
        return error_set(err, ERROR_CONFIG, "the port is missing: tcp:HOST:PORT");
    if ((size_t)(colon - rest) >= sizeof(copy))
        return error_set(err, ERROR_CONFIG, "the host must be an IP address or localhost");
    memcpy(copy, rest, (size_t)(colon - rest));
    copy[colon - rest] = '\0';
    if (strip_brackets(&host, err) < 0 || parse_port(colon + 1, &port, err) < 0 ||
        parse_host(host, port, &address, err) < 0)
        return -1;
    *ret = address;
    return 0;
}

static const struct {
    const char *prefix;
    bool stands_alone; /* nothing may follow */
    int (*parse)(const char *rest, struct address *ret, struct error *err);
} forms[] = {
    {"stdio", true, parse_stdio},
    {"systemd", true, parse_systemd},
    {"unix:", false, parse_unix},
    {"tcp:", false, parse_tcp},
};

int address_parse(const char *text, struct address *ret, struct error *err)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t length = strlen(forms[i].prefix);

        if (strncmp(text, forms[i].prefix, length) == 0 &&
            (text[length] == '\0' || !forms[i].stands_alone))
            return forms[i].parse(text + length, ret, err);
    }
    return error_set(err, ERROR_CONFIG,
                     "an address is stdio, unix:/PATH, tcp:HOST:PORT or systemd");
}

bool endpoint_is_loopback(const struct endpoint *endpoint)
{
    if (endpoint->any.sa_family == AF_INET)
        return ntohl(endpoint->ipv4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return endpoint->any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&endpoint->ipv6.sin6_addr);
}

void endpoint_format(const struct endpoint *endpoint, char text[static ADDRESS_TEXT_BYTES])
{
    char host[INET6_ADDRSTRLEN];

    switch (endpoint->any.sa_family) {
    case AF_UNIX:
        snprintf(text, ADDRESS_TEXT_BYTES, "unix:%.*s", (int)sizeof(endpoint->local.sun_path),
                 endpoint->local.sun_path);
        break;
    case AF_INET:
        inet_ntop(AF_INET, &endpoint->ipv4.sin_addr, host, sizeof(host));
        snprintf(text, ADDRESS_TEXT_BYTES, "tcp:%s:%u", host,
                 (unsigned)ntohs(endpoint->ipv4.sin_port));
        break;
    case AF_INET6:
        inet_ntop(AF_INET6, &endpoint->ipv6.sin6_addr, host, sizeof(host));
        snprintf(text, ADDRESS_TEXT_BYTES, "tcp:[%s]:%u", host,
                 (unsigned)ntohs(endpoint->ipv6.sin6_port));
        break;
    default:
        snprintf(text, ADDRESS_TEXT_BYTES, "a socket of family %d", (int)endpoint->any.sa_family);
    }
}
