/* What to write where a value of the configuration has the wrong type, in the words of YAML. */
#pragma once

#include <jansson.h>

/* For VALUE, where a schema wants TYPE ("array") and the key is KEY: what is wrong, owned by the
 * caller; NULL where VALUE is of that type or nothing better than the schema's words can be said.
 */
char *config_types_explain(const char *type, const char *key, const json_t *value);
