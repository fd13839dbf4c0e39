/* The results of tools that are not ours: those that other servers of MCP have answered with. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Whether RESULT is a CallToolResult: its content, where it has any, is blocks with all that their
 * types need. Blocks of types that we do not know are right. */
bool foreign_result_is_right(const json_t *result);
