/* The life of a container: its states, the states that may follow each, and its end. Private to
 * container.h; its steps are in container.c.
 *
 *     CREATING -> ATTACHING -> STARTING -> RUNNING -> INSPECTING -> DRAINING -> OVER or KEPT
 *         \                       \           \           ^
 *          `-> UNWANTED            `-> REVOKING `-> TELLING -> KILLING
 *
 * A container without output and lifeline skips ATTACHING; a container that ends by itself skips
 * TELLING and KILLING. A step that fails leads to OVER. */
#pragma once

#include "environments/engine/container.h"
#include "environments/engine/engine_request.h"
#include "environments/engine/hijack.h"

#include <ev.h>

enum container_life_state {
    CONTAINER_LIFE_CREATING,   /* waiting for the id */
    CONTAINER_LIFE_ATTACHING,  /* waiting for the engine to hand over the connection */
    CONTAINER_LIFE_STARTING,   /* waiting for the program to run */
    CONTAINER_LIFE_REVOKING,   /* waiting for the program to run, to kill it then */
    CONTAINER_LIFE_RUNNING,    /* waiting for the program's end */
    CONTAINER_LIFE_TELLING,    /* waiting for its end after SIGTERM */
    CONTAINER_LIFE_KILLING,    /* waiting for its end after SIGKILL */
    CONTAINER_LIFE_INSPECTING, /* waiting for the engine's report on the end */
    CONTAINER_LIFE_DRAINING,   /* waiting for the end of the output */
    CONTAINER_LIFE_UNWANTED,   /* waiting for the id, to remove it */
    CONTAINER_LIFE_OVER,       /* waiting for its owner to be told; it is removed then */
    CONTAINER_LIFE_KEPT,       /* waiting for its owner to be told; it stays then */
};

struct container_life {
    enum container_life_state state;
    struct container *container; /* borrowed; NULL: nobody is told any more */
    struct engine *engine;       /* borrowed */
    struct engine_duty duty;
    struct engine_request request; /* the step under way */
    struct engine_request signal;
    struct hijack hijack;
    char *name;     /* owned; NULL: the engine chooses one, or nothing was created */
    char *id;       /* owned; NULL: not created yet */
    bool keep;      /* the plan wants it */
    bool is_told;   /* SIGTERM comes before the kill */
    bool has_input; /* its standard input is open, as lifeline or for data */
    double start_timeout;
    double submitted;  /* CLOCK_MONOTONIC seconds */
    double started;    /* likewise */
    ev_timer bound;    /* of the state */
    ev_prepare ending; /* fed, never started: tells the owner outside of every callback */
    struct container_end end;
};

/* A life in the state CREATING. Sets all but the callbacks of `signal` and `bound`. */
struct container_life *container_life_new(struct container *container, struct engine *engine,
                                          const struct container_plan *plan);

void container_life_set_state(struct container_life *life, enum container_life_state state);

/* Sets the bound of the state; 0: there is none. */
void container_life_set_bound(struct container_life *life, double seconds);

/* Only the first failure is kept, for the owner. */
void container_life_note_failure(struct container_life *life, const char *text);
void container_life_note_error(struct container_life *life, const struct error *err);

/* Ends it: the owner is told as soon as the callback that runs now has returned. A container that
 * fails is removed even if it should be kept. */
void container_life_end(struct container_life *life);

/* Ends it after a step that has failed. */
void container_life_fail(struct container_life *life, int status, const char *text);
void container_life_fail_with(struct container_life *life, int status, const struct error *err);

/* Ends it before its program runs. The engine may still create the container. */
void container_life_call_off(struct container_life *life);

/* Its owner is not told any more. */
void container_life_forget(struct container_life *life);

/* Frees it. Removes the container if it was created, or may have been, unless it is KEPT. */
void container_life_discard(struct container_life *life);
