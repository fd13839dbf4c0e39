/* Log messages for the client: levels by name, and who wants which. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/mcp.h"

#include <jansson.h>

#define LOGGING_LEVELS "debug, info, notice, warning, error, critical, alert, emergency"

enum { LOGGING_DEFAULT_LEVEL = TOOL_LOG_INFO }; /* of a legacy peer that has set none */

/* The level (enum tool_log_level) that VALUE names, or -1. */
int logging_level_find(const json_t *value);

/* The method logging/setLevel. */
enum outcome logging_set_level(struct mcp_request *request, json_t **ret, struct error *err);

/* Sends DATA (taken) to whoever sent REQUEST, if it wants to hear of LEVEL. */
void logging_send(struct mcp_request *request, enum tool_log_level level, const char *logger,
                  json_t *data);
