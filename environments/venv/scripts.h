/* The programs in bin/ of a virtual environment: each begins with the path of its interpreter. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

#include <dirent.h>

enum { VENV_SCRIPTS_NAMES = 3 }; /* of an interpreter */

/* A walk through programs that get another interpreter. */
struct venv_scripts {
    DIR *source;                                /* owned; NULL: there are none */
    DIR *target;                                /* owned; NULL: they stay where they are */
    char *interpreters[VENV_SCRIPTS_NAMES + 1]; /* owned: which they have; NULL-terminated */
    char *to;                                   /* owned: which they get */
};

/* Makes the program PATH, which INTERPRETER runs on the Python BODY. */
int venv_script_write(const char *path, const char *interpreter, const char *body,
                      struct error *err);

/* Begins to have the programs in BIN that the interpreter FROM runs be run by the interpreter TO.
 * -1 with ERR; else RET is for venv_scripts_end. */
int venv_scripts_move(struct venv_scripts *ret, const char *bin, const char *from, const char *to,
                      struct error *err);

/* Likewise begins to copy the programs of SOURCE, the bin/ of another venv, that its Python runs
 * into BIN, where the interpreter TO runs them. VERSION is that Python's: "3.11". Programs that BIN
 * has stay. */
int venv_scripts_adopt(struct venv_scripts *ret, const char *source, const char *bin,
                       const char *version, const char *to, struct error *err);

/* Goes on with COUNT programs at most. PENDING: there are more. */
enum outcome venv_scripts_step(const struct venv_scripts *scripts, unsigned count,
                               struct error *err);

/* May be called twice. */
void venv_scripts_end(struct venv_scripts *scripts);
