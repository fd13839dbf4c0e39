/* The environment variables of a run: built from nothing. */
#pragma once

#include <stdbool.h>

/* NAME=VALUE strings, NULL-terminated: PATH with the directory of INTERPRETER first, HOME = the
 * working directory DIRECTORY, LANG, TMPDIR, PYTHONDONTWRITEBYTECODE, VIRTUAL_ENV where INTERPRETER
 * is part of one, the number of THREADS for libraries, those of its sandbox, HELD, the operator's
 * OWN, which win, and those of this run, FURTHER, which win over those. These three are
 * NULL-terminated and may be NULL. Released with memory_free_strings. */
char **run_variables_new(const char *interpreter, const char *directory, unsigned threads,
                         const char *const *held, char *const *own, const char *const *further);

/* True if one of VARIABLES, NULL-terminated or NULL, says where a Python that starts finds what it
 * executes. */
bool run_variables_lead_python(const char *const *variables);
