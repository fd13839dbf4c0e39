/* The public metadata about the source of tokens: protected resource metadata (RFC 9728). */
#pragma once

#include "server/transport/http/http_exchange.h"

#include <stdbool.h>

struct authority;

/* True when EXCHANGE asks for it, and has been answered. Never true if AUTHORITY, which may be
 * NULL, has no metadata: a client would try to get a token that is not needed or does not exist. */
bool http_metadata_answer(const struct authority *authority, struct http_exchange *exchange);
