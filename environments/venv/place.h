/* Where a virtual environment is: at the operator's path, or in the state directory under its key,
 * so that the same definition finds the same venv again. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct venv_definition;
struct venv_packages;

/* Strings are owned. */
struct venv_place {
    char *key;    /* the name by which the venv is found */
    char *path;   /* where it is */
    char *python; /* its interpreter, PATH/bin/python */
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
