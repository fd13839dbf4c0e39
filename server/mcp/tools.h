/* `tools/list` and `tools/call`. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/mcp.h"

#include <jansson.h>

enum outcome tools_list(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome tools_call(struct mcp_request *request, json_t **ret, struct error *err);
