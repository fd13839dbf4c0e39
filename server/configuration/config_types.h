/* Advice for a value of the configuration that has the wrong type, in the words of YAML. */
#pragma once

#include <jansson.h>

/* For VALUE, where a schema wants TYPE ("array") and the key is KEY: the fault, owned by the
 * caller; NULL if VALUE is of TYPE or the schema's words are as good. */
char *config_types_explain(const char *type, const char *key, const json_t *value);
