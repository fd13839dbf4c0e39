/* The capabilities of this server, and the requests that a client supports. */
#pragma once

#include "base/protocol/version.h"
#include "server/tools/invocation.h"

#include <jansson.h>
#include <stdbool.h>

struct mcp_peer;
struct mcp_request;
struct mcp_server;

/* The parts that a server may have or lack. */
enum capability {
    CAPABILITY_NONE, /* every server */
    CAPABILITY_TOOLS,
    CAPABILITY_PROMPTS,
    CAPABILITY_RESOURCES,
    CAPABILITY_COMPLETIONS,
};

/* True when SERVER has CAPABILITY: an entry of the kind is or was registered. */
bool capabilities_include(const struct mcp_server *server, enum capability capability);

/* The capabilities that the server declares to PEER, which speaks VERSION. New reference. */
json_t *capabilities_of_server(const struct mcp_peer *peer, enum mcp_version version);

/* The requests that the client of REQUEST, whose version is known, supports. */
struct invocation_client capabilities_of_client(const struct mcp_request *request);

/* The capability that METHOD with PARAMS needs and CLIENT lacks, in the form in which clients
 * declare it: {"sampling": {}}. NULL when nothing is missing. New reference. */
json_t *capabilities_missing(const struct invocation_client *client, const char *method,
                             const json_t *params);
