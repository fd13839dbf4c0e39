/* The tools in code that a person has to approve: they are asked about with the code, where the
 * client cannot be asked while it runs. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* The tools in KNOWN, {server: [tool]}, with `asks` and a name in CODE: an array of "server.tool".
 * New reference. */
json_t *foreseen_tools_find(const json_t *known, const char *code, size_t length);
