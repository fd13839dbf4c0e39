/* Tells addresses of the internet from addresses of this machine and of the networks around it. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

/* An IPv4 address as an IPv6 address. */
struct in6_addr public_address_map(const struct in_addr *four);

/* False for every address that the registries (RFC 6890) keep for other purposes than the internet,
 * and for an address that contains another. */
bool public_address_is(const struct in6_addr *address);
bool public_address_is_loopback(const struct in6_addr *address);
