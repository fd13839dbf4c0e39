/* How many threads the libraries of a script start for themselves. OpenBLAS, OpenMP and others
 * start a thread for each CPU that they see, up to 64, and each of them keeps memory: without a
 * number, numpy on a large machine meets the limits of a run when it is imported. */
#pragma once

#include <stdint.h>

enum { THREAD_VARIABLES = 6 };

/* As many as the run has CPUS, as far as its limits carry them: PROCESSES at a time, and DATA bytes
 * of address space (0: only memory that is really used is limited). */
unsigned thread_count(double cpus, unsigned processes, uint64_t data);

/* The INDEXth variable, "NAME=COUNT", that says so to libraries. Owned by the caller. */
char *thread_count_variable(unsigned index, unsigned count);
