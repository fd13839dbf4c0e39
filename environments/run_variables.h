/* The environment variables of a run: built from nothing. */
#pragma once

/* NAME=VALUE strings, NULL-terminated: PATH with the directory of INTERPRETER first, HOME = the
 * working directory DIRECTORY, LANG, TMPDIR, PYTHONDONTWRITEBYTECODE, VIRTUAL_ENV where INTERPRETER
 * is part of one, and the operator's own (NULL-terminated, may be NULL), which win. */
char **run_variables_new(const char *interpreter, const char *directory, char *const *own);
void run_variables_free(char **variables);
