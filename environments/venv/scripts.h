/* The programs in bin/ of a virtual environment: each begins with the path of its interpreter. */
#pragma once

#include "base/error.h"

/* Makes the program PATH, which INTERPRETER runs on the Python BODY. */
int venv_script_write(const char *path, const char *interpreter, const char *body,
                      struct error *err);

/* Has the programs in BIN that the interpreter FROM runs be run by the interpreter TO. */
int venv_scripts_move(const char *bin, const char *from, const char *to, struct error *err);

/* Copies the programs of SOURCE, the bin/ of another venv, that its Python runs into BIN, where the
 * interpreter TO runs them. VERSION is that Python's: "3.11". Programs that BIN has stay. */
int venv_scripts_adopt(const char *source, const char *bin, const char *version, const char *to,
                       struct error *err);
