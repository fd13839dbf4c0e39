/* A file by which another machine shows that it has the working directories, too: it lies at their
 * place for a moment, and nobody can guess its name and content. Scripts may be able to write
 * there, and so spoil it. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct trial_file {
    char *path;    /* owned; NULL: there is none */
    char *content; /* owned */
};

/* Makes one in the directory PLACE, a real path. */
int trial_file_make(struct trial_file *trial, const char *place, struct error *err);

/* False when somebody has changed or removed it. */
bool trial_file_is_whole(const struct trial_file *trial);

/* Removes it, if there is one. */
void trial_file_remove(struct trial_file *trial);

/* Removes the file NAME of FOLDER if it is what a server that was killed has left. */
void trial_file_sweep(int folder, const char *name);
