/* Arguments of a tool that its clients repeat in HTTP header fields, where proxies can see them:
 * properties with `x-mcp-header` in the input schema. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* Reads the annotations in SCHEMA: *RET is an array of [field name without Mcp-Param-, key, key,
 * ...], where the keys lead from the arguments to the value; a new reference, or NULL if there are
 * none. Fails with ERROR_CONFIG if clients could not follow an annotation: they would hide the
 * tool. */
int tool_headers_read(const json_t *schema, json_t **ret, struct error *err);
