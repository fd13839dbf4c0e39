/* A proxy of the operator, through which the proxy of a run connects to open places. Pure
 * functions. */
#pragma once

#include "environments/egress/destination.h"

#include <stdbool.h>

enum { UPSTREAM_LOGIN_BYTES = 1024 };

struct upstream {
    struct destination place;
    char login[UPSTREAM_LOGIN_BYTES]; /* for Proxy-Authorization, in base64; or "" */
};

/* The operator's proxies; borrowed, and NULL where there is none. */
struct upstreams {
    const struct upstream *plain;   /* for http */
    const struct upstream *tunnels; /* for all others */
    const char *spared;             /* NO_PROXY: places that are connected to without them */
};

/* False unless URL is "http://HOST:PORT", with "USER:PASSWORD@" before the host or not, or without
 * "http://". */
bool upstream_parse(const char *url, struct upstream *ret);

/* The proxy for WANTED, or NULL. */
const struct upstream *upstreams_find(const struct upstreams *upstreams,
                                      const struct destination *wanted, bool is_tunnel);
