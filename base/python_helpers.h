/* Processes that Python's multiprocessing and joblib start for themselves: the tracker of shared
 * memory and semaphores, and the server that forks workers. They end some moments after their
 * program, which has not started them knowingly and cannot wait for them. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { PYTHON_HELPERS_MOST = 8 };

struct python_helpers {
    pid_t pids[PYTHON_HELPERS_MOST];
    unsigned count;
};

/* Looks at the command lines of the children of the calling process, which has one thread. A
 * process chooses its command line, so this is fit for messages only. */
void python_helpers_find(struct python_helpers *ret);

bool python_helpers_have(const struct python_helpers *helpers, pid_t pid);
