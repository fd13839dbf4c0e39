#include "server/mcp/capabilities.h"

#include "base/json.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/mcp/tasks.h"
#include "server/tools/registry.h"

#include <string.h>

bool capabilities_include(const struct mcp_server *server, enum capability capability)
{
    const struct registry *registry = server->registry;
    bool has_prompts = registry_offers(registry, REGISTRY_PROMPTS);
    bool has_templates = registry_offers(registry, REGISTRY_TEMPLATES);

    switch (capability) {
    case CAPABILITY_NONE:
        return true;
    case CAPABILITY_TOOLS:
        return registry_offers(registry, REGISTRY_TOOLS);
    case CAPABILITY_PROMPTS:
        return has_prompts;
    case CAPABILITY_RESOURCES:
        return has_templates || registry_offers(registry, REGISTRY_RESOURCES);
    case CAPABILITY_COMPLETIONS:
        return has_prompts || has_templates;
    }
    return false;
}

/* An anonymous principal is shared by several clients, so tasks are not listed for it. */
static json_t *tasks_capability(const struct mcp_peer *peer)
{
    json_t *tasks = json_pack("{s:{}, s:{s:{s:{}}}}", "cancel", "requests", "tools", "call");

    if (!peer->anonymous)
        json_object_set_new(tasks, "list", json_object());
    return tasks;
}

static void add_tasks(json_t *capabilities, const struct mcp_peer *peer, enum mcp_version version)
{
    if (version == MCP_2025_11_25)
        json_object_set_new(capabilities, "tasks", tasks_capability(peer));
    if (mcp_version_is_modern(version))
        json_object_set_new(capabilities, "extensions", json_pack("{s:{}}", TASKS_EXTENSION));
}

json_t *capabilities_of_server(const struct mcp_peer *peer, enum mcp_version version)
{
    const struct mcp_server *server = peer->server;
    json_t *capabilities = json_pack("{s:{}}", "logging");

    if (capabilities_include(server, CAPABILITY_TOOLS))
        json_object_set_new(capabilities, "tools", json_pack("{s:b}", "listChanged", true));
    if (capabilities_include(server, CAPABILITY_PROMPTS))
        json_object_set_new(capabilities, "prompts", json_pack("{s:b}", "listChanged", true));
    if (capabilities_include(server, CAPABILITY_RESOURCES))
        json_object_set_new(capabilities, "resources",
                            json_pack("{s:b, s:b}", "subscribe", true, "listChanged", true));
    if (version >= MCP_2025_03_26 && capabilities_include(server, CAPABILITY_COMPLETIONS))
        json_object_set_new(capabilities, "completions", json_object());
    if (capabilities_include(server, CAPABILITY_TOOLS))
        add_tasks(capabilities, peer, version);
    return capabilities;
}

/* An empty object means forms, the only kind at first. */
static bool elicits_forms(const json_t *elicitation)
{
    return json_is_object(elicitation) &&
           (json_object_get(elicitation, "form") || json_object_size(elicitation) == 0 ||
            !json_object_get(elicitation, "url"));
}

/* Of ours. */
#define CODE_ALONE "pyexecd/code-alone"

struct invocation_client capabilities_of_client(const struct mcp_request *request)
{
    const json_t *elicitation = json_object_get(request->capabilities, "elicitation");
    enum mcp_version version = request->version;

    return (struct invocation_client){
        .can_elicit = version >= MCP_2025_06_18 && elicits_forms(elicitation),
        .can_elicit_aside = version >= MCP_2025_06_18 && !mcp_version_is_modern(version) &&
                            elicits_forms(elicitation),
        .can_elicit_url = version >= MCP_2025_11_25 && json_object_get(elicitation, "url"),
        .can_sample = json_object_get(request->capabilities, "sampling") != NULL,
        .knows_links = version >= MCP_2025_06_18,
        .sends_code_alone =
            json_object_get(json_object_get(request->capabilities, "experimental"), CODE_ALONE),
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
