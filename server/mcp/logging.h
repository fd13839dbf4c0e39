/* Log messages for the client: levels by name, and the level that each client wants. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/invocation.h"

#include <jansson.h>

struct mcp_request;

#define LOGGING_LEVELS "debug, info, notice, warning, error, critical, alert, emergency"

enum { LOGGING_DEFAULT_LEVEL = SEVERITY_INFO }; /* of a legacy peer that has set none */

/* The level (enum log_severity) that VALUE names, or -1. */
int logging_level_find(const json_t *value);

/* The method logging/setLevel. */
enum outcome logging_set_level(struct mcp_request *request, json_t **ret, struct error *err);

/* The params of notifications/message. DATA is taken. New reference. */
json_t *logging_params(enum log_severity level, const char *logger, json_t *data);

/* Sends DATA (taken) to the sender of REQUEST, if it wants to hear of LEVEL. */
void logging_send(struct mcp_request *request, enum log_severity level, const char *logger,
                  json_t *data);
