/* Checks the keys for servers of tools in a configuration. */
#pragma once

#include <jansson.h>

struct config;

/* Complains of servers that have no place or two, of keys that do not belong together, and of names
 * in environments that are no servers. Members of the wrong type are passed over. */
void tool_checks_keys(struct config *config, const json_t *root);
