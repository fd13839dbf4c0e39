/* Asks one executable whether it is a Python 3 by running it in the process layer, with a limit of
 * time and output. A program that hangs is killed with all processes that it has started.
 *
 * It is asked isolated and without site: it runs modules of its own library, but no sitecustomize,
 * no .pth file, and no file that a variable or the current directory names. A script in a sandbox
 * can write none of these files, so the operator's Python gives the answer. A script without a
 * sandbox could have replaced that Python, so its answer is checked like any other input. */
#pragma once

#include "base/error.h"

#include <ev.h>

struct interpreter_question;
struct process_host;
struct tool_holding;

/* Borrowed until `answered` returns. */
struct interpreter_answer {
    const char *executable; /* sys.executable; may be "" */
    const char *version;    /* "3.11.2" */
    const char *prefix;     /* sys.prefix, without site */

    /* The directories that it uses: its prefixes, its library, the folders of its shared libraries.
     * NULL-terminated. */
    const char *const *directories;
};

struct interpreter_question_settings {
    struct ev_loop *loop;               /* borrowed */
    struct process_host *host;          /* borrowed */
    const char *path;                   /* absolute; copied */
    const struct tool_holding *holding; /* borrowed until interpreter_ask returns */
    void *data;                         /* borrowed: the asker's own */

    /* Called once, unless forgotten. ANSWER is NULL when ERR says why there is none. The question
     * is gone when it returns. */
    void (*answered)(void *data, const struct interpreter_answer *answer, const struct error *err);
};

/* NULL with ERR when it cannot be started. `answered` never comes from inside. */
struct interpreter_question *interpreter_ask(const struct interpreter_question_settings *settings,
                                             struct error *err);

/* `answered` is not called any more; the question ends by itself. */
void interpreter_question_forget(struct interpreter_question *question);
