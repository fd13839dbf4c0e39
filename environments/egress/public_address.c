#include "environments/egress/public_address.h"

#include "base/memory.h"

#include <string.h>

enum { MAPPED_BYTES = 12, MAPPED_BITS = 96 };

/* The first BITS of addresses. */
struct address_range {
    unsigned char bytes[16];
    unsigned bits;
};

#define FOUR(A, B, C, BITS)                                                                        \
    {                                                                                              \
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, A, B, C}, MAPPED_BITS + (BITS)                  \
    }

static const struct address_range closed_ranges[] = {
    FOUR(0, 0, 0, 8),      /* this network, and no address */
    FOUR(10, 0, 0, 8),     /* private */
    FOUR(100, 64, 0, 10),  /* of a provider */
    FOUR(127, 0, 0, 8),    /* loopback */
    FOUR(169, 254, 0, 16), /* of the link; the data of clouds about their machines */
    FOUR(172, 16, 0, 12),  /* private */
    FOUR(192, 0, 0, 24),   /* of protocols */
    FOUR(192, 0, 2, 24),   /* for documents */
    FOUR(192, 88, 99, 24), /* to IPv6 */
    FOUR(192, 168, 0, 16), /* private */
    FOUR(198, 18, 0, 15),  /* for measuring */
    FOUR(198, 51, 100, 24),
    FOUR(203, 0, 113, 24),          /* for documents */
    FOUR(224, 0, 0, 4),             /* multicast */
    FOUR(240, 0, 0, 4),             /* kept, and broadcast */
    {{0x20, 0x01}, 23},             /* of protocols, Teredo among them */
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* for documents */
    {{0x20, 0x02}, 16},             /* 6to4: has an address of IPv4 in it */
    {{0x3f, 0xff}, 20},             /* for documents */
};

static const struct address_range mapped_range = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff},
                                                  MAPPED_BITS};
static const struct address_range global_range = {{0x20}, 3};
static const struct address_range loopback_range = FOUR(127, 0, 0, 8);

static bool address_range_has(const struct address_range *range, const struct in6_addr *address)
{
    const unsigned whole = range->bits / 8;
    const unsigned char rest = (unsigned char)(0xff00 >> range->bits % 8);

    return memcmp(range->bytes, address->s6_addr, whole) == 0 &&
           (range->bits % 8 == 0 ||
            (range->bytes[whole] & rest) == (address->s6_addr[whole] & rest));
}

struct in6_addr public_address_map(const struct in_addr *four)
{
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

    memcpy(mapped.s6_addr + MAPPED_BYTES, four, sizeof *four);
    return mapped;
}

bool public_address_is(const struct in6_addr *address)
{
    if (!address_range_has(&mapped_range, address) && !address_range_has(&global_range, address))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(closed_ranges); i++)
        if (address_range_has(&closed_ranges[i], address))
            return false;
    return true;
}

bool public_address_is_loopback(const struct in6_addr *address)
{
    return IN6_IS_ADDR_LOOPBACK(address) || address_range_has(&loopback_range, address);
}
