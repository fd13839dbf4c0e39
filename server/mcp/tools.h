/* `tools/list` and `tools/call`. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>

struct mcp_request;

enum outcome tools_list(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome tools_call(struct mcp_request *request, json_t **ret, struct error *err);
