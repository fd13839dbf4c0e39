/* The search for a usable virtual environment: what is at its place, and what is missing there.
 *
 * The record of a venv (record.h) says what it was made from, as long as its interpreter is the
 * file that it was. If it is another one, or if there is no record because the venv is not one of
 * ours, the interpreter is asked for its version and for the directories that it uses. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "environments/interpreter/interpreter.h"

struct environment;
struct venv_place;

enum venv_finding {
    VENV_MISSING,        /* nothing is there */
    VENV_USELESS,        /* what is there is ours, and has to be replaced */
    VENV_LACKS_PACKAGES, /* the venv stays as it is and gets packages */
    VENV_USABLE,
};

struct venv_search {
    /* Inputs; all borrowed. */
    struct environment *environment; /* its steps are told */
    const struct venv_place *place;
    struct tool_holding holding; /* of the Python that is asked; as it is at each start */
    const char *packages;        /* the digest of those that are wanted; "": none */
    void (*done)(struct venv_search *search, const struct error *err);

    /* What was found. */
    enum venv_finding finding;
    char *version;      /* owned; of the Python that is there, or NULL */
    char **directories; /* owned; what it says it uses (python_needs.h); NULL without a version */

    /* Private. */
    struct interpreter python;
};

/* Looks at the place. An error is one of the interpreter in a venv that is not ours. See
 * base/outcome.h. */
enum outcome venv_search_start(struct venv_search *search, struct error *err);

/* `done` does not come any more. */
void venv_search_cancel(struct venv_search *search);
void venv_search_deinit(struct venv_search *search);
