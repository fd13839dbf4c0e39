/* URI templates (RFC 6570): literals, {name}, {+name} and, at the end, {?names}. A variable matches
 * one or more bytes, without a slash unless it is {+name}; two variables are separated by a
 * literal. {?a,b} matches "?b=1&a=2", either of them alone, and nothing. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Fails with ERROR_CONFIG if TEMPLATE is not valid. */
int uri_template_check(const char *template, struct error *err);

/* The decoded values of the variables of TEMPLATE, which is checked, in URI: an object of strings,
 * new reference. NULL if URI does not match. */
json_t *uri_template_match(const char *template, const char *uri);

/* True when TEMPLATE has a variable called NAME. */
bool uri_template_has(const char *template, const char *name);
