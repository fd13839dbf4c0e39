#include "server/mcp/params.h"

#include "base/json.h"
#include "server/mcp/headers.h"
#include "server/mcp/logging.h"
#include "server/mcp/request.h"

#include <string.h>

#define KEY_VERSION      MCP_META_PREFIX "protocolVersion"
#define KEY_CAPABILITIES MCP_META_PREFIX "clientCapabilities"
#define KEY_CLIENT_INFO  MCP_META_PREFIX "clientInfo"
#define KEY_LOG_LEVEL    MCP_META_PREFIX "logLevel"

/* The envelope */

static json_t *envelope_meta(const json_t *params)
{
    return json_object_get(params, "_meta");
}

bool envelope_is_claimed(const json_t *params)
{
    return json_object_get(envelope_meta(params), KEY_VERSION) != NULL;
}

bool envelope_is_modern(const json_t *params)
{
    return mcp_version_is_modern(
               mcp_version_of(json_object_get(envelope_meta(params), KEY_VERSION))) &&
           json_is_object(json_object_get(envelope_meta(params), KEY_CAPABILITIES));
}

static int envelope_check_members(const json_t *envelope, struct error *err)
{
    const json_t *client = json_object_get(envelope, KEY_CLIENT_INFO);
    const json_t *level = json_object_get(envelope, KEY_LOG_LEVEL);

    if (!json_is_string(json_object_get(envelope, KEY_VERSION)))
        return error_set(err, ERROR_ENVELOPE, "_meta: " KEY_VERSION " must be a string");
    if (!json_is_object(json_object_get(envelope, KEY_CAPABILITIES)))
        return error_set(err, ERROR_ENVELOPE,
                         "_meta: " KEY_CAPABILITIES " must be there and be an object");
    if (client && !json_is_object(client))
        return error_set(err, ERROR_ENVELOPE, "_meta: " KEY_CLIENT_INFO " must be an object");
    if (level && logging_level_find(level) < 0)
        return error_set(err, ERROR_ENVELOPE,
                         "_meta: " KEY_LOG_LEVEL " must be one of " LOGGING_LEVELS);
    return 0;
}

int envelope_read(struct mcp_request *request, struct error *err)
{
    const json_t *envelope = envelope_meta(request->params);
    json_t *version = json_object_get(envelope, KEY_VERSION);
    const json_t *level = json_object_get(envelope, KEY_LOG_LEVEL);

    if (envelope_check_members(envelope, err) < 0 ||
        headers_check_version(request, version, err) < 0)
        return -1;
    if (!mcp_version_is_modern(mcp_version_of(version))) {
        request->error_data =
            json_pack("{s:o, s:O}", "supported", mcp_version_list(), "requested", version);
        return error_set(err, ERROR_UNSUPPORTED_VERSION,
                         "this server speaks 2026-07-28, and older ones after initialize");
    }
    request->version = mcp_version_of(version);
    request->capabilities = json_object_get(envelope, KEY_CAPABILITIES);
    request->log_level = level ? logging_level_find(level) : -1;
    return 0;
}

json_t *envelope_progress_token(const json_t *params)
{
    json_t *token = json_object_get(envelope_meta(params), "progressToken");

    return json_is_string(token) || json_is_integer(token) ? token : NULL;
}

int envelope_result_form(const json_t *params, enum result_form *ret, struct error *err)
{
    const json_t *wanted = json_object_get(envelope_meta(params), MCP_META_RESULTS);

    *ret =
        json_is_string(wanted) ? result_form_find(json_string_value(wanted)) : RESULT_FORM_UNSAID;
    if (wanted && *ret == RESULT_FORM_UNSAID)
        return error_set(err, ERROR_INVALID_PARAMS,
                         "_meta: " MCP_META_RESULTS " must be \"text\" or \"structured\"");
    return 0;
}

int envelope_wants_output(const json_t *params, bool *ret, struct error *err)
{
    const json_t *wanted = json_object_get(envelope_meta(params), MCP_META_OUTPUT);

    if (wanted && !json_is_boolean(wanted))
        return error_set(err, ERROR_INVALID_PARAMS,
                         "_meta: " MCP_META_OUTPUT " must be true or false");
    *ret = json_is_true(wanted);
    return 0;
}

/* Members */

int params_name(const json_t *params, const char *member, const char **ret, struct error *err)
{
    const json_t *name = json_object_get(params, member);

    if (!json_is_string(name))
        return error_set(err, ERROR_INVALID_PARAMS, "%s must be there and be a string", member);
    *ret = json_string_value(name);
    if (strlen(*ret) != json_string_length(name))
        *ret = "";
    return 0;
}

int params_arguments(const json_t *params, json_t **ret, struct error *err)
{
    json_t *arguments = json_object_get(params, "arguments");

    if (arguments && !json_is_object(arguments))
        return error_set(err, ERROR_INVALID_PARAMS, "arguments must be an object, not %s",
                         json_type_name(arguments));
    *ret = arguments;
    return 0;
}
