#include "server/transport/http/http_origin.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    NAME_BYTES = 256, /* longest host name, with its end */
    PORT_DIGITS = 5,
    PORT_LARGEST = 65535,
    PORT_HTTP = 80,
    PORT_HTTPS = 443,
};

/* HOST[:PORT]. */
struct host_port {
    char name[NAME_BYTES]; /* as it was written; IPv6 in brackets */
    unsigned port;         /* 0: none */
};

/* The server's names on every machine. */
static const char *const loopback_names[] = {"localhost", "127.0.0.1", "[::1]", NULL};

/* Parsing */

static bool http_origin_is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("-._", text[i]))
            return false;
    }
    return length > 0;
}

/* Bytes of the host at the beginning of TEXT, 0 for none. */
static size_t measure_host(const char *text)
{
    struct in6_addr address;
    char literal[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, ":");
    const char *end;

    if (text[0] != '[')
        return http_origin_is_name(text, length) ? length : 0;
    end = strchr(text, ']');
    if (!end || (size_t)(end - text) > sizeof(literal))
        return 0;
    snprintf(literal, sizeof(literal), "%.*s", (int)(end - text - 1), text + 1);
    return inet_pton(AF_INET6, literal, &address) == 1 ? (size_t)(end - text) + 1 : 0;
}

/* The port in TEXT, digits only and no zero in front; 0 when there is none in it. */
static unsigned read_port(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long port = strtoul(text, NULL, 10);

    return text[0] != '0' && digits > 0 && digits <= PORT_DIGITS && text[digits] == '\0' &&
                   port <= PORT_LARGEST
               ? (unsigned)port
               : 0;
}

static bool http_origin_parse_host_port(const char *text, struct host_port *ret)
{
    size_t length = measure_host(text);

    if (length == 0 || length >= sizeof(ret->name))
        return false;
    *ret = (struct host_port){0};
    memcpy(ret->name, text, length);
    if (text[length] == '\0')
        return true;
    ret->port = text[length] == ':' ? read_port(text + length + 1) : 0;
    return ret->port > 0;
}

/* Comparing */

/* Browsers leave out the port that is usual. */
static bool names_port(const struct host_port *host_port, unsigned port)
{
    bool is_usual = port == 0 || port == PORT_HTTP || port == PORT_HTTPS;

    return host_port->port == port || (host_port->port == 0 && is_usual);
}

static bool is_loopback_name(const char *name)
{
    for (const char *const *own = loopback_names; *own; own++) {
        if (strcasecmp(name, *own) == 0)
            return true;
    }
    return false;
}

static bool is_listed(const struct host_port *host, const char *entry, unsigned port)
{
    struct host_port allowed;

    if (!http_origin_parse_host_port(entry, &allowed) || strcasecmp(host->name, allowed.name) != 0)
        return false;
    if (allowed.port)
        return host->port == allowed.port;
    return host->port == 0 || host->port == port;
}

enum http_host http_names_find_host(const struct http_names *names, const char *host, unsigned port)
{
    struct host_port host_port;

    if (!http_origin_parse_host_port(host, &host_port))
        return HTTP_HOST_MALFORMED;
    if (is_loopback_name(host_port.name) && names_port(&host_port, port))
        return HTTP_HOST_OURS;
    for (const char *const *entry = names->hosts; *entry; entry++) {
        if (is_listed(&host_port, *entry, port))
            return HTTP_HOST_OURS;
    }
    return HTTP_HOST_OTHER;
}

/* Origins */

/* The text that follows "http://" or "https://", or NULL. */
static const char *behind_scheme(const char *origin)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
        size_t length = strlen(schemes[i]);

        if (strncasecmp(origin, schemes[i], length) == 0)
            return origin + length;
    }
    return NULL;
}

static bool is_own_page(const char *origin, unsigned port)
{
    const char *rest = behind_scheme(origin);
    struct host_port host_port;

    return rest && http_origin_parse_host_port(rest, &host_port) &&
           is_loopback_name(host_port.name) && names_port(&host_port, port);
}

bool http_names_list_origin(const struct http_names *names, const char *origin)
{
    for (const char *const *entry = names->origins; *entry; entry++) {
        if (strcasecmp(origin, *entry) == 0)
            return true;
    }
    return false;
}

bool http_names_admit_origin(const struct http_names *names, const char *origin, unsigned port)
{
    return http_names_list_origin(names, origin) || is_own_page(origin, port);
}

/* Names of the configuration */

bool http_name_is_host(const char *text)
{
    struct host_port host;

    return http_origin_parse_host_port(text, &host);
}

bool http_name_is_origin(const char *text)
{
    const char *rest = behind_scheme(text);

    return rest && http_name_is_host(rest);
}
