/* The step between a YAML tree and its JSON Schema: members that were left out get their defaults,
 * and strings with a meaning (a size, a path) are read, with better messages than a pattern could
 * give. */
#pragma once

#include "base/error.h"
#include "base/schema/schema.h"

#include <jansson.h>

struct config_values {
    const json_t *schema; /* borrowed; its references are local */
    const char *folder;   /* borrowed; where relative paths begin. NULL: they stay as they are */
    schema_problem_fn report;
    void *data; /* borrowed; for REPORT */
};

/* Completes ROOT: every member that has a `default` is there, sizes are integers, in bytes, paths
 * are absolute. A value for which `report` is called stays as it is. An object whose schema is
 * chosen by `type` ("allOf" of "if" and "then") is completed by the chosen schema, and keys of
 * another schema are reported. */
void config_values_settle(const struct config_values *values, json_t *root);

/* The value of `admin`, `http://HOST:PORT` of a loopback address or `unix:///PATH`, as an address
 * with a path for address_parse(); owned by the caller. NULL with ERROR_CONFIG if other machines
 * could reach it. */
char *config_values_admin_address(const char *text, struct error *err);
