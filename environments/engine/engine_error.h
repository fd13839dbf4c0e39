/* Errors of an engine, in words: it cannot be reached, it ended the connection, it refused. Private
 * to this layer. */
#pragma once

#include "base/curl/transfer.h"
#include "base/error.h"
#include "environments/engine/engine.h"

#include <stddef.h>

/* TRANSFER ended with CODE, no success. Sets ERR, returns -1. */
int engine_error_from_transfer(struct engine *engine, const struct transfer *transfer,
                               CURLcode code, struct error *err);

/* The engine answered with STATUS, no success, and this BODY: JSON with a message, or text. Sets
 * ERR, returns -1. */
int engine_error_from_status(int status, const char *body, size_t length, struct error *err);
