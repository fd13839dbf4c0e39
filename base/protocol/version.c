#include "base/protocol/version.h"

#include <assert.h>
#include <string.h>

static const char *const NAMES[MCP_VERSIONS] = {
    [MCP_2024_11_05] = "2024-11-05", [MCP_2025_03_26] = "2025-03-26",
    [MCP_2025_06_18] = "2025-06-18", [MCP_2025_11_25] = "2025-11-25",
    [MCP_2026_07_28] = "2026-07-28",
};

enum mcp_version mcp_version_find(const char *name)
{
    for (enum mcp_version version = MCP_VERSION_NONE + 1; version < MCP_VERSIONS; version++) {
        if (strcmp(NAMES[version], name) == 0)
            return version;
    }
    return MCP_VERSION_NONE;
}

/* No version name holds a NUL. */
enum mcp_version mcp_version_of(const json_t *value)
{
    const char *name = json_string_value(value);

    if (!name || strlen(name) != json_string_length(value))
        return MCP_VERSION_NONE;
    return mcp_version_find(name);
}

const char *mcp_version_name(enum mcp_version version)
{
    assert(version > MCP_VERSION_NONE && version < MCP_VERSIONS);
    return NAMES[version];
}

bool mcp_version_is_modern(enum mcp_version version)
{
    return version >= MCP_2026_07_28;
}

json_t *mcp_version_list(void)
{
    json_t *list = json_array();

    for (enum mcp_version version = MCP_VERSIONS - 1; version > MCP_VERSION_NONE; version--)
        json_array_append_new(list, json_string(NAMES[version]));
    return list;
}
