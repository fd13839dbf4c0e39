/* Progress of a request, for a client that has asked to hear of it. */
#pragma once

#include "server/mcp/mcp.h"

/* PROGRESS is told unless it has not risen; TOTAL < 0: unknown; MESSAGE may be NULL. */
void progress_tell(struct mcp_request *request, double progress, double total, const char *message);
