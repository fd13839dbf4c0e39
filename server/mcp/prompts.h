/* `prompts/list` and `prompts/get`. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>

struct mcp_request;

enum outcome prompts_list(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome prompts_get(struct mcp_request *request, json_t **ret, struct error *err);
