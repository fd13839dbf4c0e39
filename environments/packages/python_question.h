/* Asks a Python which version it is and which packages are installed for it, with `site`, as
 * scripts have it. So files of a venv that scripts can write are executed: it runs in a contained
 * tree like a script, in a sandbox where scripts have one, for a few seconds at most.
 *
 * The answer is {"version": "3.11.2", "packages": {"numpy": true, "pandas": false}}; true: another
 * package needs it. */
#pragma once

#include <ev.h>
#include <jansson.h>

struct error;
struct process_host;
struct python_question;
struct tool_holding;

struct python_question_settings {
    struct ev_loop *loop;               /* borrowed */
    struct process_host *host;          /* borrowed */
    const char *python;                 /* absolute; borrowed until python_question_start returns */
    const struct tool_holding *holding; /* likewise */
    const char *const *needs; /* likewise: paths that it reads (python_needs.h), or NULL */
    void *data;               /* borrowed: the asker's own */

    /* Called once, unless forgotten. ANSWER is borrowed, and NULL when ERR says why there is none.
     * The question is gone when it returns. */
    void (*answered)(void *data, const json_t *answer, const struct error *err);
};

/* NULL with ERR when it cannot be started. `answered` never comes from inside. */
struct python_question *python_question_start(const struct python_question_settings *settings,
                                              struct error *err);

/* `answered` is not called any more; the question ends by itself. */
void python_question_forget(struct python_question *question);
