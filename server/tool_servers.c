#include "server/tool_servers.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/configuration/config.h"
#include "server/configuration/config_paths.h"
#include "server/configuration/tool_checks.h"
#include "toolbox/toolbox.h"

/* Where relative paths begin. Owned by the caller. */
static char *tool_servers_folder(const struct config *config)
{
    const char *path = config_path(config);
    char *folder = path ? config_paths_folder(path) : NULL;

    return folder ? folder : memory_copy_string("/");
}

struct toolbox_plan *tool_servers_read(struct config *config)
{
    struct toolbox_plan *plan = toolbox_plan_new();
    AUTO_FREE char *folder = tool_servers_folder(config);
    const char *name;
    json_t *definition;

    tool_checks_keys(config, config_tree(config));
    json_object_foreach (json_object_get(config_tree(config), "tools"), name, definition) {
        struct error err = ERROR_INIT;
        const char *key = NULL;

        /* Names are of letters that a JSON Pointer need not escape. */
        if (toolbox_plan_add(plan, name, definition, folder, &key, &err) < 0)
            config_complain(config, err.message, "/tools/%s%s%s", name, key ? "/" : "",
                            text_or_none(key));
    }
    return plan;
}
