/* Arguments of a tool that its clients repeat in HTTP header fields, so that what stands between
 * can see them: properties with `x-mcp-header` in the input schema. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* What is annotated in SCHEMA: an array of [field name without Mcp-Param-, key, key, ...], the keys
 * leading from the arguments to the value. *RET is NULL when nothing is; a new reference. Fails
 * with ERROR_CONFIG when an annotation is not where clients can follow it: they would hide the
 * tool. */
int tool_headers_read(const json_t *schema, json_t **ret, struct error *err);
