/* URI templates (RFC 6570) of level 1: literals and {names}. A variable stands for at least one
 * byte and for no slash; between two of them there is a literal. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Fails with ERROR_CONFIG when TEMPLATE is none of these. */
int uri_template_check(const char *template, struct error *err);

/* The values of the variables of TEMPLATE, which has been checked, in URI, decoded: an object of
 * strings, new reference. NULL when URI is none that the template describes. */
json_t *uri_template_match(const char *template, const char *uri);

/* True when TEMPLATE has a variable called NAME. */
bool uri_template_has(const char *template, const char *name);
