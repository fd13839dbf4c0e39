/* The MCP endpoint: Streamable HTTP of every revision, on one path.
 *
 * Nothing is made for a request before it has passed, in this order: Host, Origin, path, method,
 * token, Content-Type, Accept. Its body is bounded by then, too. The kind of the request decides
 * its handler: http_route.h. */
#pragma once

#include "server/transport/http/http_call.h"
#include "server/transport/http/http_sessions.h"

#include <ev.h>

struct authority;
struct http_endpoint;
struct replicas;

struct http_endpoint_settings {
    struct ev_loop *loop;        /* borrowed */
    struct mcp_server *server;   /* borrowed */
    struct authority *authority; /* borrowed; NULL: nobody has to show a token */
    struct replicas *replicas;   /* taken; NULL: there are none */

    const char *const *allowed_hosts;   /* as in http_names; copied; NULL: none */
    const char *const *allowed_origins; /* the same */
    unsigned sessions;                  /* most */
    double session_idle_seconds;        /* then a session ends */
};

struct http_endpoint *http_endpoint_new(const struct http_endpoint_settings *settings);

/* All exchanges are over. */
void http_endpoint_free(struct http_endpoint *endpoint);

/* The service that answers its requests; borrowed. */
struct http_service *http_endpoint_service(struct http_endpoint *endpoint);

/* Sessions that there are now. */
unsigned http_endpoint_session_count(const struct http_endpoint *endpoint);

/* Ends all sessions and streams: running calls are cancelled. Further requests are refused. */
void http_endpoint_stop(struct http_endpoint *endpoint);
