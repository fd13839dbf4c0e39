/* Regular expressions as JSON Schema wants them: ECMA-262 with the "u" flag, run by PCRE2.
 * docs/schema.md lists the remaining differences. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct pattern;

/* Compiles TEXT; NULL with ERROR_CONFIG when it is no regular expression we can run. */
struct pattern *pattern_new(const char *text, size_t length, struct error *err);
void pattern_free(struct pattern *pattern);

/* True when the pattern is found anywhere in TEXT. The work is taken from *BUDGET; at zero the
 * search is given up and false returned. */
bool pattern_matches(const struct pattern *pattern, const char *text, size_t length,
                     size_t *budget);
