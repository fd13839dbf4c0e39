/* The files of a virtual environment, as `python -m venv` would make them, without running Python.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct base_python;
struct venv_scripts;

struct venv_layout {
    const struct base_python *base; /* borrowed, as all below */
    const char *written;            /* the directory to make; must not be there */
    const char *path;               /* where it will be when it is used */
    const char *parent;             /* the venv whose packages it shows (parent.h); or NULL */
    bool system_site_packages;      /* it shows the packages of BASE */
    bool without_pip;
};

/* Makes the directory with its parents. After a failure the files made so far are left. */
int venv_layout_write(const struct venv_layout *layout, struct error *err);

/* Begins to copy the programs of the parent, which LAYOUT has; see venv_scripts_adopt. */
int venv_layout_adopt_programs(const struct venv_layout *layout, struct venv_scripts *ret,
                               struct error *err);
