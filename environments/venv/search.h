/* The search for a usable virtual environment at its place, and for the packages that it lacks.
 *
 * The record of a venv (record.h) holds as long as the file of its interpreter is the same. If the
 * file has changed, or if the venv has no record because it is not ours, the interpreter is asked
 * for its version and for the directories that it uses. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "environments/interpreter/interpreter.h"

struct environment;
struct venv_place;

enum venv_finding {
    VENV_MISSING,        /* its place has no venv */
    VENV_USELESS,        /* its place is ours, and has to be filled anew */
    VENV_LACKS_PACKAGES, /* the venv stays as it is and gets packages */
    VENV_USABLE,
};

struct venv_search {
    /* Inputs; all borrowed. */
    struct environment *environment; /* its steps are reported */
    const struct venv_place *place;
    struct tool_holding holding; /* for the Python that is asked; read at each start */
    const char *packages;        /* the digest of the wanted packages; "": none */
    void (*done)(struct venv_search *search, const struct error *err);

    /* The result. */
    enum venv_finding finding;
    char *version;      /* owned; of the Python that is there, or NULL */
    char **directories; /* owned; that it says it uses (python_needs.h); NULL without a version */

    /* Private. */
    struct interpreter python;
};

/* Looks at the place. ERR is an error of the interpreter in a venv that is not ours. See
 * base/outcome.h. */
enum outcome venv_search_start(struct venv_search *search, struct error *err);

/* `done` does not come any more. */
void venv_search_cancel(struct venv_search *search);
void venv_search_deinit(struct venv_search *search);
