/* Progress, for a client that has asked to hear of it. */
#pragma once

#include "server/mcp/version.h"

#include <jansson.h>

/* The progress of one request. */
struct progress {
    json_t *token; /* borrowed from its params; NULL: no progress wanted */
    double told;   /* the last */
};

/* TOKEN may be NULL. */
void progress_init(struct progress *progress, json_t *token);

/* The params of a progress notification for VALUE; NULL when VALUE has not risen since the last
 * one. TOTAL < 0: unknown; MESSAGE may be NULL. New reference. */
json_t *progress_next(struct progress *progress, enum mcp_version version, double value,
                      double total, const char *message);
