#include "server/mcp/capabilities.h"

#include "base/json.h"
#include "server/tools/registry.h"

#include <string.h>

json_t *capabilities_of_server(const struct mcp_server *server, enum mcp_version version)
{
    (void)server;
    (void)version;
    return json_pack("{s:{}, s:{}}", "logging", "tools");
}

/* An empty object stands for forms, as it did before there was anything else. */
static bool elicits_forms(const json_t *elicitation)
{
    return json_is_object(elicitation) &&
           (json_object_get(elicitation, "form") || json_object_size(elicitation) == 0 ||
            !json_object_get(elicitation, "url"));
}

struct invocation_client capabilities_of_client(const struct mcp_request *request)
{
    const json_t *elicitation = json_object_get(request->capabilities, "elicitation");
    enum mcp_version version = request->version;

    return (struct invocation_client){
        .can_elicit = version >= MCP_2025_06_18 && elicits_forms(elicitation),
        .can_elicit_url = version >= MCP_2025_11_25 && json_object_get(elicitation, "url"),
        .can_sample = json_object_get(request->capabilities, "sampling") != NULL,
        .can_list_roots = json_object_get(request->capabilities, "roots") != NULL,
    };
}

json_t *capabilities_missing(const struct invocation_client *client, const char *method,
                             const json_t *params)
{
    const char *mode = json_object_get_string(params, "mode");

    if (strcmp(method, "sampling/createMessage") == 0)
        return client->can_sample ? NULL : json_pack("{s:{}}", "sampling");
    if (strcmp(method, "roots/list") == 0)
        return client->can_list_roots ? NULL : json_pack("{s:{}}", "roots");
    if (mode && strcmp(mode, "url") == 0)
        return client->can_elicit_url ? NULL : json_pack("{s:{s:{}}}", "elicitation", "url");
    return client->can_elicit ? NULL : json_pack("{s:{}}", "elicitation");
}
