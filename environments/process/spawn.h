/* Starts the runner executable: descriptors, a clone without a copy of the page tables, an exec. */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* A started runner's ends, all close-on-exec; control, output and errors do not block. */
struct spawned {
    pid_t pid;
    int pidfd;
    int control;
    int streams[2]; /* its standard output and standard error */
};

/* Opens the executable at PATH, for spawn_runner; -1 with ERR when it cannot be executed. */
int spawn_open(const char *path, struct error *err);

/* Executes the file open at EXECUTABLE with ARGUMENTS and no environment variables. */
int spawn_runner(struct spawned *ret, int executable, char *const *arguments, struct error *err);
