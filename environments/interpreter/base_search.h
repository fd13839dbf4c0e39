/* The search for the Python that a virtual environment is created from: by a path, by a version, or
 * python3. A Python whose facts are known (see base_python.h) is not run. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "environments/interpreter/interpreter.h"
#include "environments/interpreter/python_finder.h"

struct base_python;

struct base_search {
    /* Inputs; all borrowed. */
    struct ev_loop *loop;
    struct process_host *host;
    const char *state;           /* the state directory */
    const char *path;            /* NULL: by version */
    const char *version;         /* NULL, too: python3 on PATH */
    struct tool_holding holding; /* for the programs that are asked; read at each start */
    void (*done)(struct base_search *search, const struct error *err);

    /* The result: a Python whose facts are known, or an interpreter that has to be asked for them.
     */
    struct base_python *base;              /* owned, or NULL */
    const struct interpreter *interpreter; /* a search below, or NULL */

    /* Private. */
    struct interpreter by_name;
    struct python_finder by_version;
};

/* Forgets the result of an earlier search. See base/outcome.h. */
enum outcome base_search_start(struct base_search *search, struct error *err);

/* `done` is not called any more. Forgets the result. */
void base_search_cancel(struct base_search *search);
