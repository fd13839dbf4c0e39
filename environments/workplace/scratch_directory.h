/* A directory in which only one process at a time makes something: the one that holds its lock.
 * When the holder dies, the lock is free, and the next one may remove what is left. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

struct scratch_directory {
    char *path; /* owned */
    int fd;     /* owned: locked while it is held; -1 */
};

/* READY: the caller has the lock; the directory may hold files of an earlier one. PENDING: another
 * one has the lock; try again.
 */
enum outcome scratch_directory_lock(struct scratch_directory *directory, const char *path,
                                    struct error *err);

/* Releases the lock. The directory stays as it is. */
void scratch_directory_unlock(struct scratch_directory *directory);
