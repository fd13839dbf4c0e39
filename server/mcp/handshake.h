/* Who this server is and what it can: `initialize`, `server/discover`, `ping`. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/mcp.h"

#include <jansson.h>

enum outcome handshake_initialize(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome handshake_discover(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome handshake_ping(struct mcp_request *request, json_t **ret, struct error *err);
