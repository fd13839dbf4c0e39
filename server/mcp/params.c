#include "server/mcp/params.h"

#include "base/json.h"

#include <string.h>

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
