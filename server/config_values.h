/* The step between a YAML tree and its JSON Schema: members that were left out get their defaults,
 * and strings that stand for something (a size, a path) are read, with better sentences for what is
 * wrong than a pattern can give. */
#pragma once

#include "base/schema.h"

#include <jansson.h>

/* Completes ROOT by SCHEMA, whose references are local: every member that has a `default` is there,
 * sizes are integers, in bytes. What REPORT is called for stays as it is. */
void config_values_settle(const json_t *schema, json_t *root, schema_problem_fn report, void *data);
