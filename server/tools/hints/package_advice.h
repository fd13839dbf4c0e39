/* Advice for a caller whose code missed packages. */
#pragma once

#include "server/tools/hints/hint.h"

/* One or two sentences about PACKAGES (requirements, an array of strings; NULL: they are not
 * known). Owned by the caller. */
char *package_advice(const struct hint_facts *facts, const json_t *packages);

/* An environment, not the run's, that the caller may name and whose Python certainly has PACKAGES;
 * or NULL. */
const struct environment *package_advice_find(const struct hint_facts *facts,
                                              const json_t *packages);
