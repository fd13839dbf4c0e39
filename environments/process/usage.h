/* What a program has used that is about to be killed: nobody can tell afterwards, because the
 * kernel discards the accounts of what dies with a PID namespace. */
#pragma once

#include <stdint.h>

struct usage {
    double cpu_seconds; /* of the program and the children it has waited for */
    uint64_t peak_memory;
};

/* What the program under the supervisor that PIDFD stands for has used so far; zeros where /proc
 * does not tell. */
struct usage usage_of_program(int pidfd);
