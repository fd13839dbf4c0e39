/* The environment variables of a run: built from nothing. */
#pragma once

#include <stdbool.h>

/* NAME=VALUE strings, NULL-terminated: PATH with the directory of INTERPRETER first, HOME = the
 * working directory DIRECTORY, LANG, TMPDIR, PYTHONDONTWRITEBYTECODE, VIRTUAL_ENV where INTERPRETER
 * is part of one, the number of THREADS for libraries. Then HELD, the variables of its sandbox,
 * then OWN, the operator's, then FURTHER, the run's own; a later variable replaces an earlier
 * variable of the same name. These three are NULL-terminated and may be NULL. Released with
 * memory_free_strings. */
char **run_variables_new(const char *interpreter, const char *directory, unsigned threads,
                         const char *const *held, char *const *own, const char *const *further);

/* True if a variable of VARIABLES, NULL-terminated or NULL, leads a starting Python to code. */
bool run_variables_lead_python(const char *const *variables);
