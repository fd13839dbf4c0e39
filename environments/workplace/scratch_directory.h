/* A directory in which something is made that many want, and only one may make at a time: whoever
 * holds it locked. When its holder dies the lock is free, and what it has left is known to be
 * nobody's. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

struct scratch_directory {
    char *path; /* owned */
    int fd;     /* owned: locked while it is held; -1 */
};

/* READY: it is ours, with what others may have left in it. PENDING: somebody else has it; ask
 * again.
 */
enum outcome scratch_directory_lock(struct scratch_directory *directory, const char *path,
                                    struct error *err);

/* Gives it up; who comes next finds it as it is. */
void scratch_directory_unlock(struct scratch_directory *directory);
