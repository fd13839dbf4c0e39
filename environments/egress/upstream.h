/* A proxy of the operator's, through which the proxy of a run goes on to what is open. Pure
 * functions. */
#pragma once

#include "environments/egress/destination.h"

#include <stdbool.h>

enum { UPSTREAM_LOGIN_BYTES = 1024 };

struct upstream {
    struct destination place;
    char login[UPSTREAM_LOGIN_BYTES]; /* for Proxy-Authorization, in base64; or "" */
};

/* The operator's; borrowed, and NULL where there is none. */
struct upstreams {
    const struct upstream *plain;   /* for http */
    const struct upstream *tunnels; /* for all else */
    const char *spared;             /* NO_PROXY: what is connected to without them */
};

/* False unless URL is "http://HOST:PORT", with "USER:PASSWORD@" before the host or not, or without
 * "http://". */
bool upstream_parse(const char *url, struct upstream *ret);

/* The one for WANTED, or NULL. */
const struct upstream *upstreams_find(const struct upstreams *upstreams,
                                      const struct destination *wanted, bool is_tunnel);
