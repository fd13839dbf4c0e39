/* All hints that apply to a result, in the order in which a model should read them; for a person at
 * a terminal, only hints without advice about calls. */
#pragma once

#include "server/tools/hints/hint.h"

/* An array of strings, each one line. New reference. */
json_t *hints_find(const struct hint_facts *facts);
