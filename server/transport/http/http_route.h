/* The route of a POST to the MCP endpoint, from the kind of its message and three of its headers.
 *
 * Both eras live on one endpoint: requests of 2026-07-28 stand alone, older revisions open a
 * session with `initialize` and name it in every later request. */
#pragma once

#include "server/jsonrpc/session.h"

enum http_route {
    HTTP_ROUTE_ALONE,   /* answered by itself: a request of 2026-07-28, or no message at all */
    HTTP_ROUTE_OPEN,    /* opens a session */
    HTTP_ROUTE_SESSION, /* belongs to the session it names */

    /* Refused. */
    HTTP_ROUTE_NEEDS_SESSION,
    HTTP_ROUTE_ANSWERS_NOTHING,  /* a response where the server asks nothing */
    HTTP_ROUTE_IS_OPEN,          /* `initialize` in the session it names */
    HTTP_ROUTE_UNKNOWN_VERSION,  /* of a message that is never answered */
    HTTP_ROUTE_REPEATED_SESSION, /* the header that names the session comes more than once */
};

struct http_route_headers {
    const char *version; /* MCP-Protocol-Version; NULL: none */
    unsigned versions;   /* how often it came */
    unsigned sessions;   /* how often Mcp-Session-Id came */
};

/* True when they say that the request stands alone: then its session means nothing. */
bool http_route_is_alone(const struct http_route_headers *headers);

enum http_route http_route(enum incoming_kind kind, const struct http_route_headers *headers);
