#include "server/mcp/method.h"

#include "base/memory.h"
#include "server/mcp/completion.h"
#include "server/mcp/handshake.h"
#include "server/mcp/logging.h"
#include "server/mcp/peer.h"
#include "server/mcp/prompts.h"
#include "server/mcp/request.h"
#include "server/mcp/resources.h"
#include "server/mcp/subscriptions.h"
#include "server/mcp/tasks.h"
#include "server/mcp/tools.h"

#include <string.h>

static const struct method METHODS[] = {
    {"initialize", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_NONE, handshake_initialize},
    {"server/discover", MCP_2026_07_28, MCP_2026_07_28, CAPABILITY_NONE, handshake_discover},
    {"ping", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_NONE, handshake_ping},
    {"logging/setLevel", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_NONE, logging_set_level},
    {"tools/list", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_TOOLS, tools_list},
    {"tools/call", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_TOOLS, tools_call},
    {"resources/list", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_RESOURCES, resources_list},
    {"resources/templates/list", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_RESOURCES,
     resources_list_templates},
    {"resources/read", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_RESOURCES, resources_read},
    {"resources/subscribe", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_RESOURCES,
     subscriptions_subscribe},
    {"resources/unsubscribe", MCP_2024_11_05, MCP_2025_11_25, CAPABILITY_RESOURCES,
     subscriptions_unsubscribe},
    {"subscriptions/listen", MCP_2026_07_28, MCP_2026_07_28, CAPABILITY_NONE, subscriptions_listen},
    {"prompts/list", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_PROMPTS, prompts_list},
    {"prompts/get", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_PROMPTS, prompts_get},
    {"completion/complete", MCP_2024_11_05, MCP_2026_07_28, CAPABILITY_COMPLETIONS,
     completion_complete},
    {"tasks/get", MCP_2025_11_25, MCP_2026_07_28, CAPABILITY_TOOLS, tasks_get},
    {"tasks/result", MCP_2025_11_25, MCP_2025_11_25, CAPABILITY_TOOLS, tasks_result},
    {"tasks/update", MCP_2026_07_28, MCP_2026_07_28, CAPABILITY_TOOLS, tasks_update},
    {"tasks/cancel", MCP_2025_11_25, MCP_2026_07_28, CAPABILITY_TOOLS, tasks_cancel},
    {"tasks/list", MCP_2025_11_25, MCP_2025_11_25, CAPABILITY_TOOLS, tasks_list},
};

const struct method *method_find(const struct mcp_request *request)
{
    for (size_t i = 0; i < ARRAY_SIZE(METHODS); i++) {
        const struct method *method = &METHODS[i];

        if (strcmp(request->method, method->name) == 0 && request->version >= method->first &&
            request->version <= method->last &&
            capabilities_include(request->peer->server, method->needs))
            return method;
    }
    return NULL;
}
