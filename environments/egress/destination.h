/* Places of the network, as an operator names them and as scripts ask for them: a name or an
 * address, and a port. Pure functions; the server reads its configuration by them, and the proxy
 * (helper/) the requests of scripts. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Among the arguments of the proxy: those behind it may be at any address. */
#define EGRESS_ANYWHERE "--anywhere"

enum { DESTINATION_HOST_BYTES = 254 };

struct destination {
    char host[DESTINATION_HOST_BYTES]; /* in lower case, without brackets and a last dot */
    bool is_wildcard;                  /* all names that end in ".HOST" */
    bool is_address;
    struct in6_addr address; /* then; one of IPv4 in its mapped form */
    bool is_anywhere;        /* a rule: wherever its name leads, of this machine, too */
    uint16_t port;
};

/* Those that are open; borrowed. */
struct destinations {
    const struct destination *list;
    size_t count;
};

/* LENGTH bytes of TEXT are "HOST:PORT", HOST a name, an address of IPv4 or "[...]" with one of
 * IPv6. */
bool destination_parse(const char *text, size_t length, struct destination *ret);

/* The same for what an operator writes: "*.example.org:443" is one, too. */
bool destination_parse_rule(const char *text, struct destination *ret);

/* LENGTH bytes of HOST (an address without brackets) and PORT. */
bool destination_set(struct destination *destination, const char *host, size_t length,
                     unsigned port);
void destination_set_address(struct destination *destination, const struct in6_addr *address,
                             uint16_t port);

/* "HOST:PORT", into SIZE bytes at TEXT. */
void destination_print(const struct destination *destination, char *text, size_t size);

/* True when WANTED is open. Where its name leads to is another question. */
bool destination_is_open(const struct destinations *open, const struct destination *wanted);

/* True when a connection to WANTED, which is open, may go to ADDRESS: one of the internet, unless
 * it IS_OWN, this machine's; or one that an operator has named, by a name that may lead anywhere or
 * as an address. `localhost` names the loopback; no other name names an address. */
bool destination_may_be_at(const struct destinations *open, const struct destination *wanted,
                           const struct in6_addr *address, bool is_own);
