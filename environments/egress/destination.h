/* Places of the network, as an operator names them and as scripts ask for them: a name or an
 * address, and a port. Pure functions; the server reads its configuration by them, and the proxy
 * (helper/) the requests of scripts. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An argument of the proxy: the places behind it may be at any address. */
#define EGRESS_ANYWHERE "--anywhere"

enum { DESTINATION_HOST_BYTES = 254 };

struct destination {
    char host[DESTINATION_HOST_BYTES]; /* in lower case, without brackets and a last dot */
    bool is_wildcard;                  /* all names that end in ".HOST" */
    bool is_address;
    struct in6_addr address; /* if `is_address`; an IPv4 address in its mapped form */
    bool is_anywhere;        /* in a rule: the name may lead anywhere, also to this machine */
    uint16_t port;
};

/* The open places; borrowed. */
struct destinations {
    const struct destination *list;
    size_t count;
};

/* Reads LENGTH bytes of TEXT, "HOST:PORT". HOST is a name, an IPv4 address or an IPv6 address in
 * "[...]". */
bool destination_parse(const char *text, size_t length, struct destination *ret);

/* The same for the text of an operator, which may be "*.example.org:443", too. */
bool destination_parse_rule(const char *text, struct destination *ret);

/* Sets DESTINATION to LENGTH bytes of HOST (an address without brackets) and PORT. False: they are
 * no place. */
bool destination_set(struct destination *destination, const char *host, size_t length,
                     unsigned port);
void destination_set_address(struct destination *destination, const struct in6_addr *address,
                             uint16_t port);

/* "HOST:PORT", into SIZE bytes at TEXT. */
void destination_print(const struct destination *destination, char *text, size_t size);

/* True when WANTED is open. The address of its name is checked by destination_may_be_at. */
bool destination_is_open(const struct destinations *open, const struct destination *wanted);

/* True when a connection to WANTED, which is open, may go to ADDRESS: an address of the internet,
 * unless it IS_OWN, this machine's; or an address that an operator has allowed, by a name that may
 * lead anywhere or as an address. `localhost` names the loopback; no other name names an address.
 */
bool destination_may_be_at(const struct destinations *open, const struct destination *wanted,
                           const struct in6_addr *address, bool is_own);
