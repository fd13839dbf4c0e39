/* `resources/list`, `resources/templates/list` and `resources/read`. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>

struct mcp_request;

enum outcome resources_list(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome resources_list_templates(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome resources_read(struct mcp_request *request, json_t **ret, struct error *err);
