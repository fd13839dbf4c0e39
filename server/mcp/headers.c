#include "server/mcp/headers.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/protocol/header_value.h"
#include "server/mcp/request.h"
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

static int headers_refuse(const char *name, const char *what, struct error *err)
{
    return error_set(err, ERROR_HEADER_MISMATCH, "the header field %s is not %s", name, what);
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
        return headers_refuse("MCP-Protocol-Version", "what _meta says", err);
    return 0;
}

/* The member of the params that Mcp-Name repeats for METHOD, or NULL. */
static const char *name_member(const char *method)
{
    static const struct {
        const char *method;
        const char *member;
    } NAMES[] = {
        {"tools/call", "name"},  {"prompts/get", "name"},    {"resources/read", "uri"},
        {"tasks/get", "taskId"}, {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
        if (strcmp(NAMES[i].method, method) == 0)
            return NAMES[i].member;
    }
    return NULL;
}

/* The method itself checks the type of the member. */
static int headers_check_name(const struct mcp_request *request, struct error *err)
{
    const char *member = name_member(request->method);
    const json_t *name = member ? json_object_get(request->params, member) : NULL;
    const char *value;

    if (!json_is_string(name))
        return 0;
    value = find_one(request->headers, "Mcp-Name", err);
    if (!value)
        return -1;
    return header_value_is(value, name) ? 0 : headers_refuse("Mcp-Name", "what params name", err);
}

int headers_check_method(const struct mcp_request *request, struct error *err)
{
    const char *value;

    if (!request->headers)
        return 0;
    value = find_one(request->headers, "Mcp-Method", err);
    if (!value)
        return -1;
    if (strcmp(value, request->method) != 0)
        return headers_refuse("Mcp-Method", "the method", err);
    return headers_check_name(request, err);
}

/* The value in ARGUMENTS that PARAMETER (field name, key, key, ...) leads to; NULL: there is
 * none. */
static const json_t *find_argument(const json_t *arguments, const json_t *parameter)
{
    const json_t *value = arguments;

    for (size_t i = 1; i < json_array_size(parameter); i++)
        value = json_object_get(value, json_string_value(json_array_get(parameter, i)));
    return json_is_null(value) ? NULL : value;
}

static int check_parameter(const struct mcp_request *request, const json_t *parameter,
                           const json_t *arguments, struct error *err)
{
    const json_t *argument = find_argument(arguments, parameter);
    AUTO_FREE char *name =
        memory_format("Mcp-Param-%s", json_string_value(json_array_get(parameter, 0)));
    unsigned count = 0;
    const char *value;

    if (json_is_object(argument) || json_is_array(argument))
        return 0; /* the tool refuses it */
    if (!argument)
        return request->headers->find(request->headers, name, &count)
                   ? headers_refuse(name, "to be there without its argument", err)
                   : 0;
    value = find_one(request->headers, name, err);
    if (!value)
        return -1;
    return header_value_is(value, argument) ? 0 : headers_refuse(name, "what its argument is", err);
}

int headers_check_parameters(const struct mcp_request *request, const json_t *parameters,
                             const json_t *arguments, struct error *err)
{
    const json_t *parameter;
    size_t i;

    if (!request->headers || !mcp_version_is_modern(request->version))
        return 0;
    json_array_foreach (parameters, i, parameter) {
        if (check_parameter(request, parameter, arguments, err) < 0)
            return -1;
    }
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
