/* `!pip install numpy` and `%pip install numpy`, as in a notebook. */
#pragma once

#include "server/tools/code/python_source.h"

#include <jansson.h>

/* True when LINE is such a command. *RET are the packages, a new reference to an array of strings;
 * or NULL, when the command is not only about packages by name. */
bool pip_line_read(const struct python_line *line, json_t **ret);
