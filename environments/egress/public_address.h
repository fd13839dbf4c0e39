/* Which addresses are of the internet, and which of this machine and of the networks around it. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

/* An address of IPv4 in the form that those of IPv6 have. */
struct in6_addr public_address_map(const struct in_addr *four);

/* False for every address that the registries (RFC 6890) keep for something else than the internet,
 * and for those that have another address in them. */
bool public_address_is(const struct in6_addr *address);
bool public_address_is_loopback(const struct in6_addr *address);
