/* Where a virtual environment is: at the operator's path; in the state directory under its key, so
 * that the same definition finds the same venv again; or in an annex (working_directory_annex). */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <stdbool.h>

struct venv_definition;
struct venv_packages;

/* Strings are owned. */
struct venv_place {
    char *key;    /* the name by which the venv is found */
    char *path;   /* where it is */
    char *python; /* its interpreter, PATH/bin/python */
    char *kept;   /* where its record is (record.h); NULL: in the venv */
    char *aside;  /* where a venv for the operator's path is made; NULL: in the scratch directory */
    bool is_ours; /* in the state directory: a venv there may be removed and replaced */
};

/* The place for a venv by DEFINITION with PACKAGES. */
void venv_place_find(struct venv_place *ret, const struct venv_definition *definition,
                     const struct venv_packages *packages, const char *state);
void venv_place_deinit(struct venv_place *place);

/* Prepares PLACE, which has no venv, for one. The operator's path must be empty; the new venv is
 * made beside it under a name with STATE_NAME, on the same file system. */
int venv_place_prepare(struct venv_place *place, const char *state_name, struct error *err);

/* The scratch directory of a venv: a directory in which only the process that holds its lock makes
 * files. When the holder dies, the lock is free, and the next holder may remove the files that are
 * left. */
struct venv_scratch {
    char *path; /* owned */
    int fd;     /* owned: locked while it is held; -1 */
};

/* READY: the caller has the lock; the directory may hold files of an earlier holder. PENDING:
 * another process has the lock; try again. */
enum outcome venv_scratch_lock(struct venv_scratch *scratch, const char *path, struct error *err);

/* Releases the lock. The directory stays as it is. */
void venv_scratch_unlock(struct venv_scratch *scratch);
