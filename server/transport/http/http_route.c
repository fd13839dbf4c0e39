#include "server/transport/http/http_route.h"

/* The claim of MCP-Protocol-Version. */
enum claim {
    CLAIM_NONE,
    CLAIM_LEGACY,  /* a revision with sessions */
    CLAIM_MODERN,  /* a revision without sessions */
    CLAIM_UNKNOWN, /* an unknown revision, or several fields */
};

static enum claim read_claim(const struct http_route_headers *headers)
{
    enum mcp_version version;

    if (headers->versions == 0)
        return CLAIM_NONE;
    version = headers->versions == 1 ? mcp_version_find(headers->version) : MCP_VERSION_NONE;
    if (version == MCP_VERSION_NONE)
        return CLAIM_UNKNOWN;
    return mcp_version_is_modern(version) ? CLAIM_MODERN : CLAIM_LEGACY;
}

bool http_route_is_alone(const struct http_route_headers *headers)
{
    return read_claim(headers) == CLAIM_MODERN;
}

/* Of a message that belongs to a session. */
static enum http_route route_to_session(const struct http_route_headers *headers)
{
    switch (headers->sessions) {
    case 0:
        return HTTP_ROUTE_NEEDS_SESSION;
    case 1:
        return HTTP_ROUTE_SESSION;
    default:
        return HTTP_ROUTE_REPEATED_SESSION;
    }
}

static enum http_route route_legacy(enum incoming_kind kind,
                                    const struct http_route_headers *headers)
{
    enum http_route route = route_to_session(headers);

    if (kind == INCOMING_INITIALIZE && route == HTTP_ROUTE_NEEDS_SESSION)
        return HTTP_ROUTE_OPEN;
    if (kind == INCOMING_INITIALIZE && route == HTTP_ROUTE_SESSION)
        return HTTP_ROUTE_IS_OPEN;
    if (kind == INCOMING_BATCH && route == HTTP_ROUTE_NEEDS_SESSION)
        return HTTP_ROUTE_ALONE; /* and refused there */
    return route;
}

/* A request without an answer has no way to learn that its version is not known, except here. */
static enum http_route route_unanswered(enum incoming_kind kind, enum claim claim,
                                        const struct http_route_headers *headers)
{
    switch (claim) {
    case CLAIM_MODERN:
        return kind == INCOMING_RESPONSE ? HTTP_ROUTE_ANSWERS_NOTHING : HTTP_ROUTE_ALONE;
    case CLAIM_UNKNOWN:
        return HTTP_ROUTE_UNKNOWN_VERSION;
    case CLAIM_NONE:
    case CLAIM_LEGACY:
        break;
    }
    return route_legacy(kind, headers);
}

enum http_route http_route(enum incoming_kind kind, const struct http_route_headers *headers)
{
    enum claim claim = read_claim(headers);
    bool is_legacy = claim == CLAIM_NONE || claim == CLAIM_LEGACY;

    switch (kind) {
    case INCOMING_INVALID:
    case INCOMING_MODERN:
        return HTTP_ROUTE_ALONE;
    case INCOMING_NOTIFICATION:
    case INCOMING_RESPONSE:
        return route_unanswered(kind, claim, headers);
    case INCOMING_BATCH:
    case INCOMING_INITIALIZE:
    case INCOMING_REQUEST:
        break;
    }
    return is_legacy ? route_legacy(kind, headers) : HTTP_ROUTE_ALONE;
}
