#include "server/transport/http/http_cors.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "server/jsonrpc/session.h"
#include "server/transport/http/http_answer.h"

/* The fields of the protocol's requests, for pages that ask without naming the fields they want to
 * send. */
#define REQUEST_FIELDS                                                                             \
    "Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "     \
    "Mcp-Session-Id, traceparent, tracestate, baggage"
#define RESPONSE_FIELDS "Mcp-Session-Id, WWW-Authenticate, Retry-After"

/* The origin of the page that sent it, where it is listed. */
static const char *find_listed_origin(const struct http_names *names,
                                      const struct http_exchange *exchange)
{
    const char *origin = http_exchange_field(exchange, "Origin", NULL);

    return origin && http_names_list_origin(names, origin) ? origin : NULL;
}

char *http_cors_add(const struct http_names *names, const struct http_exchange *exchange,
                    const char *fields)
{
    const char *origin = find_listed_origin(names, exchange);

    if (!origin)
        return memory_copy_string(fields);
    return memory_format("%sAccess-Control-Allow-Origin: %s\r\n"
                         "Access-Control-Expose-Headers: " RESPONSE_FIELDS "\r\n"
                         "Vary: Origin\r\n",
                         fields, origin);
}

void http_cors_respond(const struct http_names *names, struct http_exchange *exchange,
                       unsigned status, const char *fields, const char *body, size_t length)
{
    AUTO_FREE char *all = http_cors_add(names, exchange, fields);

    http_respond(exchange, status, all, length ? "application/json" : NULL, body, length);
}

static int code_for_revision(const struct http_exchange *exchange, int code)
{
    const char *version = http_exchange_field(exchange, "MCP-Protocol-Version", NULL);

    return version && mcp_version_is_modern(mcp_version_find(version)) ? HTTP_CODE_INVALID_REQUEST
                                                                       : code;
}

void http_cors_refuse(const struct http_names *names, struct http_exchange *exchange,
                      unsigned status, const char *fields, int code, const char *message)
{
    AUTO_FREE char *all = http_cors_add(names, exchange, fields);

    http_refuse(exchange, status, all, code_for_revision(exchange, code), message);
}

/* The fields that a page wants to send, where that is a list of names. */
static const char *find_wanted_fields(const struct http_exchange *exchange)
{
    const char *wanted = http_exchange_field(exchange, "Access-Control-Request-Headers", NULL);

    return wanted ? wanted : REQUEST_FIELDS;
}

void http_cors_answer_options(const struct http_names *names, struct http_exchange *exchange,
                              const char *methods)
{
    AUTO_FREE char *fields = memory_format("Allow: %s\r\n", methods);
    AUTO_FREE char *preflight = find_listed_origin(names, exchange)
                                    ? memory_format("%sAccess-Control-Allow-Methods: %s\r\n"
                                                    "Access-Control-Allow-Headers: %s\r\n"
                                                    "Access-Control-Max-Age: 600\r\n",
                                                    fields, methods, find_wanted_fields(exchange))
                                    : memory_copy_string(fields);

    http_cors_respond(names, exchange, 204, preflight, NULL, 0);
}
