/* The servers of `tools` in the configuration. */
#pragma once

struct catalog;
struct config;
struct toolbox_plan;

/* The empty folder of the state directory where their programs begin: no script leaves modules or
 * settings there. */
#define TOOL_SERVERS_START "tools"

/* Reads them from CONFIG, which has no errors; it gets a complaint for each that cannot be used. No
 * program is looked for where scripts of CATALOG can write. Never NULL; owned by
 * the caller. */
struct toolbox_plan *tool_servers_read(struct config *config, const struct catalog *catalog);
