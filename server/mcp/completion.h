/* `completion/complete`: the possible values of a prompt's argument or a template's variable. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>

struct mcp_request;

enum { COMPLETION_VALUES = 100 }; /* most in one answer */

enum outcome completion_complete(struct mcp_request *request, json_t **ret, struct error *err);
