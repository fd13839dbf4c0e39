/* A Python on this machine, and its resolution: from a name or a path to the program that is run.
 *
 * The first program with the name on PATH may be a wrapper, such as a shell script of pyenv or
 * asdf, which chooses the real interpreter at every start and makes it ten times slower. So the
 * candidate is run once and asked for its sys.executable. That program is then used in its place,
 * if it gives the same answers when it is run directly. The result holds as long as both files stay
 * the same.
 *
 *     UNKNOWN -> ASKING -> RESOLVING -> KNOWN */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "environments/interpreter/file_identity.h"
#include "environments/interpreter/tool_sandbox.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct interpreter_question;
struct process_host;

enum interpreter_state {
    INTERPRETER_UNKNOWN,
    INTERPRETER_ASKING,    /* waits for the answer of the candidate */
    INTERPRETER_RESOLVING, /* waits for the answer of the program behind it */
    INTERPRETER_KNOWN,
};

struct interpreter {
    /* Inputs. */
    struct ev_loop *loop;        /* borrowed */
    struct process_host *host;   /* borrowed */
    char *name;                  /* owned; absolute, or looked for on PATH */
    struct tool_holding holding; /* for the programs that are asked; read at each resolution */
    void (*done)(struct interpreter *interpreter, const struct error *err);

    /* The result of the resolution; NULL before. */
    char *executable;   /* owned; absolute: the program to run */
    char *version;      /* owned; "3.11.2" */
    char *prefix;       /* owned; sys.prefix, without site: where the library is */
    char **directories; /* owned, as are the strings; it says it uses them (python_needs.h) */

    char *candidate; /* owned; the program that has the name: perhaps a wrapper */

    /* Private. */
    enum interpreter_state state;
    char *real;                            /* owned; the sys.executable of the candidate */
    struct file_identity candidate_file;   /* of `candidate` when it was asked */
    struct file_identity executable_file;  /* of `executable` when it was asked */
    struct interpreter_question *question; /* under way, or NULL */
    size_t position;                       /* how many candidates on PATH have failed */
    struct error failure;                  /* of the first candidate */
};

/* NAME is copied; NULL: "python3". */
void interpreter_init(struct interpreter *interpreter, struct ev_loop *loop,
                      struct process_host *host, const char *name);
void interpreter_deinit(struct interpreter *interpreter);

/* Forgets the result. Gives up a resolution that is pending: `done` does not come. */
void interpreter_cancel(struct interpreter *interpreter);

/* True when the result of an earlier resolution still holds. */
bool interpreter_is_resolved(const struct interpreter *interpreter);

/* The resolved program, or else the first candidate; NULL: none. Owned by the caller. */
char *interpreter_guess(const struct interpreter *interpreter);

/* READY: `executable` can be run. See base/outcome.h. */
enum outcome interpreter_resolve(struct interpreter *interpreter, struct error *err);
