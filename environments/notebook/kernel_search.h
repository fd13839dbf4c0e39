/* Looks for the file that says how a Jupyter kernel is started, as kernel.py does it in a session:
 * in JUPYTER_PATH first, then in the environment of a Python, in JUPYTER_DATA_DIR, and in the data
 * directories of the machine. */
#pragma once

#include "base/error.h"

struct environment;

/* Where to look; borrowed. All but the first may be NULL. */
struct kernel_search {
    const char *interpreter; /* an absolute path: the Python of the environment */
    const char *path;        /* JUPYTER_PATH */
    const char *data;        /* JUPYTER_DATA_DIR */
};

/* -1 with ERR: there is no kernel NAME, and ERR lists those that exist; or its file is invalid. */
int kernel_search_find(const struct kernel_search *search, const char *name, struct error *err);

/* -1 with ERR, which says what to do: ENVIRONMENT lacks the kernel that its configuration names.
 * Succeeds if only a preparation of ENVIRONMENT could tell, as with an image. */
int kernel_search_check(const struct environment *environment, struct error *err);
