#include "server/mcp/headers.h"

#include "server/mcp/mcp.h"
#include "server/tools/trace.h"

#include <string.h>

/* The value of the field NAME, which must be there once; NULL with ERROR_HEADER_MISMATCH. */
static const char *find_one(const struct mcp_headers *headers, const char *name, struct error *err)
{
    unsigned count = 0;
    const char *value = headers->find(headers, name, &count);

    if (!value)
        error_set(err, ERROR_HEADER_MISMATCH, "the header field %s is missing", name);
    else if (count > 1)
        error_set(err, ERROR_HEADER_MISMATCH, "the header field %s is there %u times", name, count);
    return count == 1 ? value : NULL;
}

int headers_check_version(const struct mcp_request *request, const json_t *version,
                          struct error *err)
{
    const char *value;

    if (!request->headers)
        return 0;
    value = find_one(request->headers, "MCP-Protocol-Version", err);
    if (!value)
        return -1;
    if (strcmp(value, json_string_value(version)) != 0)
        return error_set(err, ERROR_HEADER_MISMATCH,
                         "the header field MCP-Protocol-Version is not what _meta says");
    return 0;
}

bool headers_follow_trace(const struct mcp_request *request, struct trace *trace)
{
    const struct mcp_headers *headers = request->headers;
    unsigned parents = 0;
    unsigned states = 0;
    const char *parent = headers ? headers->find(headers, "traceparent", &parents) : NULL;
    const char *state = headers ? headers->find(headers, "tracestate", &states) : NULL;

    return trace_follow(trace, parents == 1 ? parent : NULL, states == 1 ? state : NULL);
}
