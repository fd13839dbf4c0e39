/* A Python that virtual environments are created from: what has to be known of it to do that
 * without running it, and the pip that they get from it.
 *
 *     STATE/pythons/DIGEST/     one for each interpreter, by the path that it was found at
 *         facts.json
 *         site-packages/        what a new venv has there: pip, out of the interpreter's own bundle
 *
 * It is asked once, and again when its files are others than they were. pip stays the archive that
 * it is in the bundle, with the few files around it that make it an installed package: a hundred
 * times less files for each venv, and nothing that two of them share. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/file_identity.h"

struct interpreter;
struct subprocess;

/* Everything is owned. */
struct base_python {
    char *candidate;  /* where it was found: perhaps a shim, or a venv's own */
    char *executable; /* what bin/python of a venv leads to */
    char *version;    /* "3.11.2" */
    char *packages;   /* where packages are in a venv: "lib/python3.11/site-packages" */
    char *pip;        /* the version of the pip that venvs get, or NULL */
    char *own_pip;    /* the version of the pip that it has for itself, or NULL */
    char *folder;     /* STATE/pythons/DIGEST */
    struct file_identity candidate_file;
    struct file_identity executable_file;
};

/* What is known of the Python found at CANDIDATE. NULL: it has to be asked. */
struct base_python *base_python_load(const char *state, const char *candidate);
void base_python_free(struct base_python *base);

/* Starts to ask INTERPRETER, which has been found. It puts site-packages into SCRATCH, an empty
 * directory on the file system of STATE. DATA and ENDED: see tool.h. */
struct subprocess *
base_python_ask(const struct interpreter *interpreter, const char *scratch, void *data,
                void (*ended)(void *data, const char *output, const struct error *err),
                struct error *err);

/* Keeps what INTERPRETER has answered: OUTPUT, and what is in SCRATCH. What was known before goes
 * to SCRATCH. NULL with ERR when that is no answer, or cannot be kept. */
struct base_python *base_python_keep(const char *state, const struct interpreter *interpreter,
                                     const char *output, const char *scratch, struct error *err);
