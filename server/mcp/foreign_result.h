/* Other servers of MCP answer with the results of their tools, which need not be right. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* True when RESULT is a CallToolResult: its content, where it has any, is blocks with all that
 * their types need. Blocks of types that we do not know are right. */
bool foreign_result_is_right(const json_t *result);
