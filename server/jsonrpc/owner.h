/* Whose a request is: the handles in it name the server that has what it is about (base/handle.h).
 */
#pragma once

#include "server/jsonrpc/incoming.h"

#include <stdbool.h>

/* The first handle in INCOMING, one request, that IS_WANTED; borrowed from it. NULL: none. */
const char *owner_find_handle(const struct incoming *incoming,
                              bool (*is_wanted)(void *data, const char *handle), void *data);
