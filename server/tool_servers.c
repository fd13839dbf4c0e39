#include "server/tool_servers.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "environments/interpreter/script_places.h"
#include "environments/interpreter/search_path.h"
#include "server/configuration/config.h"
#include "server/configuration/tool_checks.h"
#include "server/origin_checks.h"
#include "server/origins.h"
#include "toolbox/server_settings.h"
#include "toolbox/toolbox.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Owned by the caller. */
static char *tool_servers_start(const struct catalog *catalog)
{
    const char *state = catalog_settings(catalog)->state;
    AUTO_FREE char *start = state ? memory_format("%s/" TOOL_SERVERS_START, state) : NULL;
    struct error err = ERROR_INIT;

    if (start && fd_make_directories(start, S_IRUSR | S_IXUSR, &err) == 0)
        return STEAL_PTR(start);
    return memory_copy_string("/");
}

struct toolbox_plan *tool_servers_read(struct config *config, const struct catalog *catalog)
{
    struct toolbox_plan *plan = toolbox_plan_new();
    AUTO(script_places_deinit) struct script_places places = origin_checks_places(catalog);
    AUTO_FREE char *start = tool_servers_start(catalog);
    AUTO_FREE char *folder = origins_folder(config);
    AUTO_FREE char *path = search_path_without(NULL, &places);
    const struct server_surroundings around = {.start = start, .folder = folder, .path = path};
    const char *name;
    json_t *definition;

    tool_checks_keys(config, config_tree(config));
    json_object_foreach (json_object_get(config_tree(config), "tools"), name, definition) {
        struct error err = ERROR_INIT;
        const char *key = NULL;
        const char *relative = origins_find_relative(definition);

        /* Names are of letters that a JSON Pointer need not escape. */
        if (toolbox_plan_add(plan, name, definition, &around, &key, &err) < 0)
            config_complain(config, err.message, "/tools/%s%s%s", name, key ? "/" : "",
                            text_or_none(key));
        if (relative)
            config_complain(config,
                            "has a relative path, which would begin in an empty folder: write an "
                            "absolute one",
                            "/tools/%s/environment/%s", name, relative);
    }
    return plan;
}
