/* The virtual environment whose Python a venv is made from: its parent. Python knows of one venv
 * and of the Python behind that. A .pth file in the venv makes it look into the parent, too: behind
 * the packages of the venv, and before the packages of the Python behind both. Scripts find
 * packages that the parent gets later. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/file_identity.h"

#include <stdbool.h>

/* The venv that PYTHON, a path or NULL, is the interpreter of. NULL: it is of none. Owned by the
 * caller. */
char *venv_parent_find(const char *python);

/* True if scripts in the venv at PARENT see the packages of the Python behind it. */
bool venv_parent_shows_base(const char *parent);

/* Reads into RET which venv is at PARENT, and tells whether it is that one still. */
void venv_parent_identify(const char *parent, struct file_identity *ret);
bool venv_parent_is(const char *parent, const struct file_identity *identity);

/* Makes scripts of the venv in the directory WRITTEN see the packages of PARENT. PACKAGES is the
 * directory of packages in both, relative to them. */
int venv_parent_show(const char *parent, const char *written, const char *packages,
                     struct error *err);
