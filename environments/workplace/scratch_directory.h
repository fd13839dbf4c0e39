/* A directory in which only the process that holds its lock makes files. When the holder dies, the
 * lock is free, and the next holder may remove the files that are left. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

struct scratch_directory {
    char *path; /* owned */
    int fd;     /* owned: locked while it is held; -1 */
};

/* READY: the caller has the lock; the directory may hold files of an earlier holder. PENDING:
 * another process has the lock; try again. */
enum outcome scratch_directory_lock(struct scratch_directory *directory, const char *path,
                                    struct error *err);

/* Releases the lock. The directory stays as it is. */
void scratch_directory_unlock(struct scratch_directory *directory);
