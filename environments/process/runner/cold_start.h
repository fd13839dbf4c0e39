/* The start of a program by fork and exec. */
#pragma once

#include "environments/process/runner/supervisor.h"

struct program;
struct runner_preparation;

/* Forks, and executes the program's file. */
extern const struct program_start cold_start;

/* In the process that becomes PROGRAM: shows its paths and lays an empty script over its own, or
 * CODE. */
void cold_start_show(int fd, const struct program *program,
                     const struct runner_preparation *preparation);
