/* What anybody may read about where to get a token: protected resource metadata (RFC 9728). */
#pragma once

#include "server/transport/http/http_exchange.h"

#include <stdbool.h>

struct authority;

/* True when EXCHANGE asks for it, and has been answered. Never where AUTHORITY, which may be NULL,
 * has none: a client would try to get a token that is not needed, or that nobody gives out. */
bool http_metadata_answer(const struct authority *authority, struct http_exchange *exchange);
