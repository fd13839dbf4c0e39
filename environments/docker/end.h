/* How a script in a container has ended: from the last words of its pyexecd-init and what the
 * engine knows. */
#pragma once

#include "environments/engine/last_words.h"
#include "environments/execution.h"

#include <stdbool.h>

/* What holds a container, of which MISSING (borrowed; NULL: nothing) could not be had. */
struct process_receipt docker_receipt(const json_t *missing);

/* What the engine knows. */
struct docker_observation {
    bool killed;           /* by us */
    bool out_of_memory;    /* something was killed by the memory limit */
    int exit_code;         /* 128 + N for signal N */
    double seconds;        /* from the start of the execution to its end */
    const json_t *missing; /* borrowed: for the receipt */
    const char *failure;   /* "", or why the script did not run, or its end is not known */
};

/* WORDS is NULL when there were none. PYTHON is the program that was to be executed. */
struct execution_end docker_end(const struct docker_observation *seen,
                                const struct last_words *words, const char *python);
