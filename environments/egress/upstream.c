#include "environments/egress/upstream.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/egress/public_address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define UPSTREAM_SCHEME "http://"

enum { UPSTREAM_PORT = 80, UPSTREAM_HEX = 16, LIST_HOST_BYTES = 300, IPV4_BEFORE_BITS = 96 };

/* LENGTH bytes of TEXT, decoded: "@" for "%40". Owned by the caller. */
static char *upstream_decode(const char *text, size_t length)
{
    char *decoded = memory_new(length + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < length; i++) {
        char digits[3] = "";
        char *end = digits;
        long value = 0;

        if (text[i] == '%' && i + 2 < length) {
            memcpy(digits, text + i + 1, 2);
            value = strtol(digits, &end, UPSTREAM_HEX);
        }
        decoded[count++] = end == digits + 2 ? (char)value : text[i];
        i += end == digits + 2 ? 2 : 0;
    }
    return decoded;
}

/* Basic authentication wants the colon. */
static bool upstream_set_login(struct upstream *upstream, const char *login, size_t length)
{
    AUTO_FREE char *decoded = upstream_decode(login, length);
    AUTO_FREE char *whole = memory_format("%s%s", decoded, strchr(decoded, ':') ? "" : ":");
    AUTO_FREE char *encoded = base64_encode(BASE64_STANDARD, whole, strlen(whole));

    return (size_t)snprintf(upstream->login, sizeof upstream->login, "%s", encoded) <
           sizeof upstream->login;
}

/* "host", "host:port", "[address]", "[address]:port" */
static bool upstream_read_place(const char *place, size_t length, struct destination *ret)
{
    const char *bracket = memrchr(place, ']', length);
    const char *from = bracket ? bracket : place;

    if (memchr(from, ':', (size_t)(place + length - from)))
        return destination_parse(place, length, ret);
    if (bracket)
        return place[0] == '[' && length > 2 &&
               destination_set(ret, place + 1, length - 2, UPSTREAM_PORT);
    return destination_set(ret, place, length, UPSTREAM_PORT);
}

bool upstream_parse(const char *url, struct upstream *ret)
{
    const char *authority = url;
    const char *at;
    size_t length;

    *ret = (struct upstream){0};
    if (strncasecmp(url, UPSTREAM_SCHEME, strlen(UPSTREAM_SCHEME)) == 0)
        authority += strlen(UPSTREAM_SCHEME);
    else if (strstr(url, "://"))
        return false;
    length = strcspn(authority, "/?#");
    at = memrchr(authority, '@', length);
    if (at && !upstream_set_login(ret, authority, (size_t)(at - authority)))
        return false;
    length -= at ? (size_t)(at + 1 - authority) : 0;
    ret->place.is_anywhere = true;
    return upstream_read_place(at ? at + 1 : authority, length, &ret->place);
}

/* True if the first BITS of the addresses are the same. */
static bool upstream_shares_bits(const struct in6_addr *a, const struct in6_addr *b, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++)
        if ((a->s6_addr[i / 8] ^ b->s6_addr[i / 8]) & 0x80 >> i % 8)
            return false;
    return true;
}

/* "10.0.0.0/8" */
static bool upstream_is_in_network(const char *network, const struct destination *wanted)
{
    const char *slash = strchr(network, '/');
    struct destination first;
    unsigned bits;

    if (!slash || !wanted->is_address ||
        !destination_set(&first, network, (size_t)(slash - network), UPSTREAM_PORT) ||
        !first.is_address)
        return false;
    bits = (unsigned)strtoul(slash + 1, NULL, 10);
    bits += IN6_IS_ADDR_V4MAPPED(&first.address) ? IPV4_BEFORE_BITS : 0;
    return bits <= 8 * sizeof first.address &&
           upstream_shares_bits(&first.address, &wanted->address, bits);
}

/* ENTRY of NO_PROXY: "*", "example.org", ".example.org", "example.org:443", "10.0.0.0/8" */
static bool upstream_is_entry_of(const char *entry, const struct destination *wanted)
{
    struct destination named;
    size_t before;

    if (strcmp(entry, "*") == 0 || upstream_is_in_network(entry, wanted))
        return true;
    entry += *entry == '.';
    if (destination_parse(entry, strlen(entry), &named)) {
        if (named.port != wanted->port)
            return false;
    } else if (!destination_set(&named, entry, strlen(entry), wanted->port)) {
        return false;
    }
    if (strlen(named.host) > strlen(wanted->host))
        return false;
    before = strlen(wanted->host) - strlen(named.host);
    return strcmp(wanted->host + before, named.host) == 0 &&
           (before == 0 || (!wanted->is_address && wanted->host[before - 1] == '.'));
}

static bool upstream_spares(const char *list, const struct destination *wanted)
{
    while (*list) {
        const size_t length = strcspn(list, ", ");
        char entry[LIST_HOST_BYTES];

        if (length > 0 && length < sizeof entry) {
            snprintf(entry, sizeof entry, "%.*s", (int)length, list);
            if (upstream_is_entry_of(entry, wanted))
                return true;
        }
        list += length + (list[length] != '\0');
    }
    return false;
}

const struct upstream *upstreams_find(const struct upstreams *upstreams,
                                      const struct destination *wanted, bool is_tunnel)
{
    if (upstreams->spared && upstream_spares(upstreams->spared, wanted))
        return NULL;
    return is_tunnel ? upstreams->tunnels : upstreams->plain;
}
