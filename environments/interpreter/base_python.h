/* A Python that virtual environments are created from: the facts that make it possible without
 * running it, and the pip that the venvs get.
 *
 *     STATE/pythons/DIGEST/     a folder per interpreter, by the path that it was found at
 *         facts.json
 *         site-packages/        for new venvs: pip, out of the interpreter's own bundle
 *
 * The interpreter is asked once, and again when its files have changed. pip stays the archive from
 * the bundle of ensurepip, with the few files that make it an installed package: a venv has a
 * hundred times fewer files, and shares none with another venv. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/file_identity.h"

#include <stdbool.h>

struct interpreter;
struct process_host;
struct subprocess;
struct tool_holding;

/* Everything is owned. */
struct base_python {
    char *candidate;     /* where it was found: perhaps a wrapper, or the Python of a venv */
    char *executable;    /* the target of bin/python of a venv */
    char *version;       /* "3.11.2" */
    char *packages;      /* where packages are in a venv: "lib/python3.11/site-packages" */
    char *pip;           /* the version of the pip that venvs get, or NULL */
    char *own_pip;       /* the version of the pip that it has for itself, or NULL */
    char *index;         /* URLs of the default index of its pip, and of its files; or NULL */
    char *claimed_index; /* the same from a Python that is not believed */
    char *folder;        /* STATE/pythons/DIGEST */
    char **directories;  /* that it says it uses; see python_needs.h */
    struct file_identity candidate_file;
    struct file_identity executable_file;
};

/* Whether the Python at EXECUTABLE is believed about its index: in a venv or a home scripts could
 * have changed it. */
bool base_python_is_believed(const char *executable);

/* The directory that has the pip of new venvs. Owned by the caller. */
char *base_python_pip(const struct base_python *base);

/* The facts about the Python found at CANDIDATE. NULL: they are not known, or not any more. */
struct base_python *base_python_load(const char *state, const char *candidate);
void base_python_free(struct base_python *base);

/* Starts to ask INTERPRETER, which is resolved. It puts site-packages into SCRATCH, an empty
 * directory on the file system of STATE. DATA and ENDED: see process/subprocess.h. */
struct subprocess *
base_python_ask(const struct interpreter *interpreter, const char *scratch, void *data,
                void (*ended)(void *data, const char *output, const struct error *err),
                struct error *err);

/* Stores the answer of INTERPRETER: OUTPUT and the content of SCRATCH. Older facts are moved to
 * SCRATCH. NULL with ERR when the answer is invalid or cannot be stored. */
struct base_python *base_python_keep(const char *state, const struct interpreter *interpreter,
                                     const char *output, const char *scratch, struct error *err);

/* Starts to ask the pip of this machine's own Python for its default package index. It stands for
 * the pip of a Python that is not believed. NULL: there is no such Python, or ERR says why it
 * cannot be asked. DATA and ENDED: see process/subprocess.h; the output is URLs, or empty where it
 * has no pip. */
struct subprocess *
system_index_ask(struct process_host *host, const struct tool_holding *holding, void *data,
                 void (*ended)(void *data, const char *output, const struct error *err),
                 struct error *err);
