/* `%pip install numpy` and `!pip install numpy` as in a notebook, and as in a shell without the
 * first character. */
#pragma once

#include "base/error.h"
#include "server/tools/code/python_source.h"

#include <jansson.h>

/* True when LINE is such a command. *RET are the packages, a new reference to an array of strings;
 * or NULL, when the command is not only about packages by name. */
bool pip_line_read(const struct python_line *line, json_t **ret);

/* The packages of all such commands in CODE that stand at the beginning of a line, and in no
 * string: a new reference, NULL where there are none. -1 with ERROR_INVALID_ARGUMENTS: a command is
 * not only about packages by name. */
int pip_lines_read(const char *code, size_t length, json_t **ret, struct error *err);

/* Replaces these commands in CODE by blanks, so that line numbers stay. */
void pip_lines_blank(char *code, size_t length);
