/* Reading the parameters of a request, whose types nobody has checked yet. Everything is borrowed
 * from them; what is wrong is ERROR_INVALID_PARAMS. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* The string MEMBER of PARAMS, which must be there. One with a NUL in it, which nothing that is
 * registered has, is read as "". */
int params_name(const json_t *params, const char *member, const char **ret, struct error *err);

/* The object `arguments` of PARAMS, or NULL. */
int params_arguments(const json_t *params, json_t **ret, struct error *err);
