/* A call's dialogue with the run that is to execute its script in a kept container.
 *
 * The run gets the go, and its init says INIT_BEGUN before anything runs: without that nothing has
 * run. So it is known whether the script has begun when its container is removed from outside. An
 * engine in a virtual machine shows other numbers of files, so its inits refuse every go; there the
 * script is executed without one. */
#pragma once

#include "environments/docker/docker_go.h"
#include "environments/docker/output.h"
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
};

/* The next run that ASK is about, at STEP. */
void kept_ask_begin(struct kept_ask *ask, enum kept_try step);

/* Sends the go to EXEC, or the order to end. */
void kept_ask_send(struct kept_ask *ask, struct exec *exec);

/* END, of the run with this OUTPUT, shows that its script has certainly not begun. */
bool kept_ask_never_began(const struct kept_ask *ask, const struct docker_output *output,
                          const struct container_end *end);

/* The connection was lost between go and answer: the script may have begun or not. */
bool kept_ask_is_lost(const struct kept_ask *ask, const struct docker_output *output,
                      const struct container_end *end);

/* What to try after a run with this OUTPUT, whose script never began. */
enum kept_try kept_ask_next(const struct kept_ask *ask, const struct docker_output *output);
