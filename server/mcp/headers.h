/* Checks that the HTTP header fields of a request agree with its body (2026-07-28). */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct mcp_request;
struct trace;

/* The header fields that a request came with. */
struct mcp_headers {
    /* The value of the field NAME, which ignores case, without blanks around it; borrowed. NULL:
     * there is none. *RET_COUNT is how often it is there. */
    const char *(*find)(const struct mcp_headers *headers, const char *name, unsigned *ret_count);
};

/* Checks the field MCP-Protocol-Version of REQUEST, whose body names VERSION. */
int headers_check_version(const struct mcp_request *request, const json_t *version,
                          struct error *err);

/* Checks the fields Mcp-Method and Mcp-Name of REQUEST, whatever its method is. */
int headers_check_method(const struct mcp_request *request, struct error *err);

/* Checks the fields Mcp-Param-... of REQUEST, which calls a tool with ARGUMENTS (or NULL).
 * PARAMETERS belong to the tool, see tool_headers.h; or NULL. */
int headers_check_parameters(const struct mcp_request *request, const json_t *parameters,
                             const json_t *arguments, struct error *err);

/* Begins TRACE as a child of the fields traceparent and tracestate of REQUEST. False when they are
 * missing or invalid. */
bool headers_follow_trace(const struct mcp_request *request, struct trace *trace);
