#include "server/transport/socket/address.h"

#include "base/cleanup.h"
#include "base/memory.h"

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

static int address_parse_unix(const char *path, struct address *ret, struct error *err)
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

/* Reads HOST, without the brackets of IPv6. The only name is localhost: a resolver could return
 * anything. */
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

/* Takes the brackets off "[::1]" and refuses IPv6 without them, since its last part looks like a
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

/* HOST:PORT, the LENGTH bytes of TEXT. */
static int address_parse_host_port(const char *text, size_t length, struct address *ret,
                                   struct error *err)
{
    char copy[ADDRESS_TEXT_BYTES];
    struct address address;
    in_port_t port = 0;
    char *host = copy;
    char *colon;

    if (length >= sizeof(copy))
        return error_set(err, ERROR_CONFIG, "the host must be an IP address or localhost");
    memcpy(copy, text, length);
    copy[length] = '\0';
    colon = strrchr(copy, ':');
    if (!colon)
        return error_set(err, ERROR_CONFIG, "the port is missing: HOST:PORT");
    *colon = '\0';
    if (strip_brackets(&host, err) < 0 || parse_port(colon + 1, &port, err) < 0 ||
        parse_host(host, port, &address, err) < 0)
        return -1;
    *ret = address;
    return 0;
}

static int address_parse_tcp(const char *rest, struct address *ret, struct error *err)
{
    return address_parse_host_port(rest, strlen(rest), ret, err);
}

/* HTTP */

/* PATH as requests name it: no escapes, no query. */
static int address_set_path(struct address *address, const char *path, struct error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "/-._~!$&'()*+,;=:@";
    size_t length = strlen(path);

    if (path[0] != '/' || strspn(path, allowed) != length)
        return error_set(err, ERROR_CONFIG,
                         "the path of an HTTP address begins with / and has letters, digits, and "
                         "none but -._~!$&'()*+,;=:@ beside them");
    if (length >= sizeof(address->path))
        return error_set(err, ERROR_CONFIG, "the path is %zu bytes long, the limit is %zu", length,
                         sizeof(address->path) - 1);
    memcpy(address->path, path, length + 1);
    return 0;
}

static int parse_http(const char *rest, struct address *ret, struct error *err)
{
    size_t length = strcspn(rest, "/");
    struct address address;

    if (address_parse_host_port(rest, length, &address, err) < 0 ||
        address_set_path(&address, rest[length] ? rest + length : ADDRESS_HTTP_PATH, err) < 0)
        return -1;
    address.kind = ADDRESS_HTTP;
    *ret = address;
    return 0;
}

static int address_parse_https(const char *rest, struct address *ret, struct error *err)
{
    if (parse_http(rest, ret, err) < 0)
        return -1;
    ret->kind = ADDRESS_HTTPS;
    return 0;
}

/* Splits at the last #: a file name may hold one. */
static int parse_unix_http(const char *rest, struct address *ret, struct error *err)
{
    const char *mark = strrchr(rest, '#');
    AUTO_FREE char *file = NULL;
    struct address address;

    if (!mark)
        return error_set(err, ERROR_CONFIG,
                         "a unix socket that speaks HTTP is written unix:///PATH#/mcp, another one "
                         "unix:/PATH");
    file = memory_format("%.*s", (int)(mark - rest), rest);
    if (address_parse_unix(file, &address, err) < 0 ||
        address_set_path(&address, mark + 1, err) < 0)
        return -1;
    address.kind = ADDRESS_UNIX_HTTP;
    *ret = address;
    return 0;
}

/* All of them */

static const struct {
    const char *prefix;
    bool stands_alone; /* nothing may follow */
    int (*parse)(const char *rest, struct address *ret, struct error *err);
} forms[] = {
    {"stdio", true, parse_stdio},
    {"systemd", true, parse_systemd},
    {"unix://", false, parse_unix_http},
    {"unix:", false, address_parse_unix},
    {"tcp:", false, address_parse_tcp},
    {"http://", false, parse_http},
    {"https://", false, address_parse_https},
};

int address_parse(const char *text, struct address *ret, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        size_t length = strlen(forms[i].prefix);

        if (strncmp(text, forms[i].prefix, length) == 0 &&
            (text[length] == '\0' || !forms[i].stands_alone))
            return forms[i].parse(text + length, ret, err);
    }
    return error_set(err, ERROR_CONFIG,
                     "an address is stdio, unix:/PATH, tcp:HOST:PORT, http://HOST:PORT/mcp, "
                     "https://HOST:PORT/mcp, unix:///PATH#/mcp or systemd");
}

bool endpoint_is_loopback(const struct endpoint *endpoint)
{
    if (endpoint->any.sa_family == AF_INET)
        return ntohl(endpoint->ipv4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return endpoint->any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&endpoint->ipv6.sin6_addr);
}

static void format_port(const char *scheme, const struct endpoint *endpoint, const char *path,
                        char text[static ADDRESS_TEXT_BYTES])
{
    bool is_ipv6 = endpoint->any.sa_family == AF_INET6;
    char host[INET6_ADDRSTRLEN];
    in_port_t port = is_ipv6 ? endpoint->ipv6.sin6_port : endpoint->ipv4.sin_port;
    const void *address =
        is_ipv6 ? (const void *)&endpoint->ipv6.sin6_addr : &endpoint->ipv4.sin_addr;

    inet_ntop(endpoint->any.sa_family, address, host, sizeof(host));
    snprintf(text, ADDRESS_TEXT_BYTES, is_ipv6 ? "%s[%s]:%u%s" : "%s%s:%u%s", scheme, host,
             (unsigned)ntohs(port), path);
}

static const char *scheme_of(enum address_kind kind)
{
    switch (kind) {
    case ADDRESS_HTTP:
        return "http://";
    case ADDRESS_HTTPS:
        return "https://";
    default:
        return "tcp:";
    }
}

void address_format(const struct endpoint *endpoint, enum address_kind kind, const char *path,
                    char text[static ADDRESS_TEXT_BYTES])
{
    path = kind == ADDRESS_HTTP || kind == ADDRESS_HTTPS || kind == ADDRESS_UNIX_HTTP ? path : "";
    switch (endpoint->any.sa_family) {
    case AF_UNIX:
        snprintf(text, ADDRESS_TEXT_BYTES, *path ? "unix://%.*s#%s" : "unix:%.*s%s",
                 (int)sizeof(endpoint->local.sun_path), endpoint->local.sun_path, path);
        break;
    case AF_INET:
    case AF_INET6:
        format_port(scheme_of(kind), endpoint, path, text);
        break;
    default:
        snprintf(text, ADDRESS_TEXT_BYTES, "a socket of family %d", (int)endpoint->any.sa_family);
    }
}
