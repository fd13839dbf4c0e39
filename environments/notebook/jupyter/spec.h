/* A kernelspec: the command of a Jupyter kernel, found by the kernel's name in the directories of
 * `jupyter --paths`.
 *
 * The search takes JUPYTER_PATH first, then the environment of a Python, the user's data directory,
 * and the data directories of the machine. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct jupyter_spec {
    char **arguments;    /* owned: the command, whose placeholders are not filled in */
    json_t *variables;   /* owned: an object of strings, or NULL */
    char *directory;     /* owned: where it was found */
    bool takes_messages; /* it is interrupted by a message, not by a signal */
};

/* Where to look; borrowed. All but the first may be NULL. */
struct jupyter_search {
    const char *interpreter; /* an absolute path: the Python of the environment */
    const char *path;        /* JUPYTER_PATH */
    const char *data;        /* JUPYTER_DATA_DIR */
    const char *home;
};

/* Finds the kernel NAME. -1 with ERR, which lists the kernels that exist: there is none, or its
 * file is invalid. */
int jupyter_spec_find(struct jupyter_spec *spec, const struct jupyter_search *search,
                      const char *name, struct error *err);
void jupyter_spec_deinit(struct jupyter_spec *spec);

/* The command that starts SPEC with CONNECTION, a file: a Python without a path is INTERPRETER.
 * For memory_free_strings. */
char **jupyter_spec_command(const struct jupyter_spec *spec, const char *interpreter,
                            const char *connection);
