/* The environment variables of a run: built from nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How many threads the libraries of a script start for themselves, as many as the run has CPUS, as
 * far as its limits carry them: PROCESSES at a time, and DATA bytes of address space (0: only
 * memory that is really used is limited).
 *
 * OpenBLAS, OpenMP and others start a thread for each CPU that they see, up to 64, and each of them
 * keeps memory: without a number, numpy on a large machine meets the limits of a run when it is
 * imported. */
unsigned run_variables_thread_count(double cpus, unsigned processes, uint64_t data);

enum { THREAD_VARIABLES = 6 };

/* The INDEXth variable, "NAME=COUNT", that says so to libraries. Owned by the caller. */
char *run_variables_thread(unsigned index, unsigned count);

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
