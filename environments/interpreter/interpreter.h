/* A Python on this machine: looked for by name or path, and asked once who it is.
 *
 * What PATH finds first may be a shim, a shell script of pyenv or asdf that chooses the real
 * interpreter at every start and makes it ten times slower. So whatever is found is run once, says
 * where it really is, and from then on that file is used, if it says the same when it is run
 * itself. The answer holds as long as the files are what they were. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "environments/interpreter/file_identity.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct interpreter_question;
struct process_host;

struct interpreter {
    /* Inputs. */
    struct ev_loop *loop;      /* borrowed */
    struct process_host *host; /* borrowed */
    char *name;                /* owned; absolute, or looked for on PATH */
    void (*done)(struct interpreter *interpreter, const struct error *err);

    /* What was found; NULL before. */
    char *executable; /* owned; absolute */
    char *version;    /* owned; "3.11.2" */
    char *prefix;     /* owned; sys.prefix, without site: where the library is */

    /* Private. */
    char *candidate;                       /* owned; what was found by name: perhaps a shim */
    char *real;                            /* owned; what it says it is, until that is certain */
    struct file_identity candidate_file;   /* as it was when it was asked */
    struct file_identity executable_file;  /* likewise */
    struct interpreter_question *question; /* under way, or NULL */
    size_t position;                       /* how many candidates on PATH have failed */
    struct error failure;                  /* of the first of them */
};

/* NAME is copied; NULL: "python3". */
void interpreter_init(struct interpreter *interpreter, struct ev_loop *loop,
                      struct process_host *host, const char *name);
void interpreter_deinit(struct interpreter *interpreter);

/* Gives up a search that is pending: `done` does not come. */
void interpreter_cancel(struct interpreter *interpreter);

/* READY: `executable` is usable, and unchanged since it was asked. See base/outcome.h. */
enum outcome interpreter_find(struct interpreter *interpreter, struct error *err);
