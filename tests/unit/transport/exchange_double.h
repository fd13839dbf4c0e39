/* Stands in for exchanges over HTTP: what is done to one is written down, a line for each step. */
#pragma once

#include "server/transport/http/http_exchange.h"

#include <stdbool.h>

enum { EXCHANGE_DOUBLE_BYTES = 64 * 1024 };

struct exchange_double {
    struct http_exchange exchange;
    bool is_congested; /* events are taken, and it is said that no more should come */
    char done[EXCHANGE_DOUBLE_BYTES];
};

/* Fails unless just LINES were done since the last time. */
void exchange_double_expect(struct exchange_double *exchange, const char *lines);
