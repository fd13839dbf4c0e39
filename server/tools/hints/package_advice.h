/* How a caller gets packages that are not where his code ran. */
#pragma once

#include "server/tools/hints/hint.h"

/* One or two sentences about PACKAGES (requirements, an array of strings; NULL: it is not known
 * which). Owned by the caller. */
char *package_advice(const struct hint_facts *facts, const json_t *packages);

/* The environment that the caller may name, besides that where his code ran, and that has PACKAGES
 * for sure; or NULL. */
const struct environment *package_advice_find(const struct hint_facts *facts,
                                              const json_t *packages);
