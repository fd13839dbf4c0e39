/* A call's dialogue with the run that is to execute its script in a kept container.
 *
 * The run gets the go, and its init answers before anything runs: without an answer nothing has
 * run. So it is known whether the script has begun when its container is removed from outside. An
 * engine in a virtual machine shows other numbers of files, so its inits refuse every go; there the
 * script is executed without one. */
#pragma once

#include "environments/docker/docker_go.h"
#include "environments/engine/exec.h"

#include <stdbool.h>

enum kept_try {
    KEPT_TRY_WAITING, /* the run that waits in the container */
    KEPT_TRY_OWN,     /* a run that is started for the call */
    KEPT_TRY_PLAIN,   /* the same, without a go */
    KEPT_TRY_NONE,    /* the container is no good */
};

struct kept_ask {
    struct docker_go go; /* for the script of the call */
    enum kept_try step;
    bool is_for_it; /* the run fits the call; else it is only told to end */
    double seconds; /* spent on the start of a WAITING run before the call */
    bool is_asked;  /* the run got a go with a script */
    bool has_begun; /* the run has answered, or gets no go */
    bool answered[FRAME_STREAMS];
};

/* The next run that ASK is about, at STEP. */
void kept_ask_begin(struct kept_ask *ask, enum kept_try step);

/* Sends the go to EXEC, or the order to end. */
void kept_ask_send(struct kept_ask *ask, struct exec *exec, const struct docker_site *site);

/* Removes the answer, the first byte of each stream, from DATA, with LENGTH. True when the rest is
 * output of the script. */
bool kept_ask_skip_answer(struct kept_ask *ask, enum frame_stream stream, const char **data,
                          size_t *length);

/* The last words of EXEC have come. */
void kept_ask_dismiss(const struct kept_ask *ask, struct exec *exec);

/* END, of the run, shows that its script has certainly not begun. */
bool kept_ask_never_began(const struct kept_ask *ask, const struct container_end *end);

/* The connection was lost between go and answer: the script may have begun or not. */
bool kept_ask_is_lost(const struct kept_ask *ask, const struct container_end *end);

/* What to try after END of a run whose script never began. */
enum kept_try kept_ask_next(const struct kept_ask *ask, const struct container_end *end);
