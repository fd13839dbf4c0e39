/* Protocol revisions. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

enum mcp_version {
    MCP_VERSION_NONE,
    MCP_2024_11_05,
    MCP_2025_03_26,
    MCP_2025_06_18,
    MCP_2025_11_25, /* the newest with the `initialize` handshake */
    MCP_2026_07_28, /* stateless: every request carries its version */
    MCP_VERSIONS,
};

/* The revision called NAME, or MCP_VERSION_NONE. */
enum mcp_version mcp_version_find(const char *name);

/* The same for VALUE; MCP_VERSION_NONE if it is no string. */
enum mcp_version mcp_version_of(const json_t *value);

/* "2025-11-25"; static storage. */
const char *mcp_version_name(enum mcp_version version);

/* True for revisions whose requests stand alone. */
bool mcp_version_is_modern(enum mcp_version version);

/* All revisions, newest first, as an array of strings. New reference. */
json_t *mcp_version_list(void);
