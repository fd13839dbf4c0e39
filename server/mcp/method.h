/* The methods of the protocol: the revisions that each is part of, and the function that answers
 * it. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/version.h"

#include <jansson.h>

struct mcp_request;

struct method {
    const char *name;
    enum mcp_version first;
    enum mcp_version last;
    enum capability needs; /* of the server */
    enum outcome (*start)(struct mcp_request *request, json_t **ret, struct error *err);
};

/* The method of REQUEST, whose version is known; NULL when the version or the server has no method
 * of its name. */
const struct method *method_find(const struct mcp_request *request);
