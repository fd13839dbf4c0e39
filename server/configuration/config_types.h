/* Advice for a value of the configuration that has the wrong type, in the words of YAML. */
#pragma once

#include <jansson.h>

/* For VALUE, where a schema wants TYPE ("array") and the key is KEY: the fault, owned by the
 * caller; NULL if VALUE is of TYPE or the schema's words are as good. */
char *config_types_explain(const char *type, const char *key, const json_t *value);

/* The same where a schema wants one of CHOICES, an array of strings. */
char *config_types_explain_choice(const json_t *choices, const json_t *value);
