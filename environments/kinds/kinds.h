/* The kinds of environments. Each has its own folder, a line in the table in kinds.c, and the
 * schema schemas/environment.NAME.json, which schemas/config.json lists. */
#pragma once

#include "environments/environment.h"

#include <stddef.h>

/* They are in the order in which they are listed to people and models. */
size_t environment_kinds_count(void);
const struct environment_kind *environment_kinds_at(size_t index);

/* The kind of DEFINITION, by its type; NULL: there is none. */
const struct environment_kind *environment_kinds_find(const json_t *definition);

/* The isolation that DEFINITION, of a known kind, asks for. */
enum isolation environment_kinds_isolation(const json_t *definition);
