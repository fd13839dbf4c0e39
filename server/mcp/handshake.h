/* The methods that present this server: `initialize`, `server/discover`, `ping`. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>

struct mcp_request;

enum outcome handshake_initialize(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome handshake_discover(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome handshake_ping(struct mcp_request *request, json_t **ret, struct error *err);
