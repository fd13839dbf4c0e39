/* How a script in a container has ended: from the last words of its pyexecd-init and the engine's
 * report. */
#pragma once

#include "environments/engine/init_protocol.h"
#include "environments/execution.h"

#include <stdbool.h>

/* The receipt of a container that lacks the layers MISSING (borrowed; NULL: none). */
struct process_receipt docker_receipt(const json_t *missing);

/* The end of a script as server and engine have seen it. */
struct docker_observation {
    bool killed;           /* by us */
    bool out_of_memory;    /* the memory limit has killed a process */
    int exit_code;         /* 128 + N for signal N */
    double seconds;        /* from the start of the execution to its end */
    const json_t *missing; /* borrowed: for the receipt */
    const char *failure;   /* why the script did not run or its end is not known; else "" */
};

/* WORDS is NULL if none came. PYTHON is the program that was to be executed. */
struct process_end docker_end(const struct docker_observation *seen, const struct last_words *words,
                              const char *python);
