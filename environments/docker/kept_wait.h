/* A run that waits for its script in a container that is kept: its pyexecd-init does (engine/go.h),
 * which is no script's and is laid over what scripts have changed there; its Python starts with the
 * script, because it loads what earlier ones have left.
 *
 * It is started when nothing of a script lives in the container, and taken or sent away before the
 * next one begins. */
#pragma once

#include "environments/docker/docker_go.h"
#include "environments/engine/exec.h"

#include <jansson.h>
#include <stdbool.h>

#define KEPT_WAIT_SECONDS 300. /* after which nobody is expected to come back */

struct docker_site;

struct kept_wait {
    struct exec exec; /* under way, or nothing waits */
    json_t *key;      /* owned: its definition, but for the nonce */
    char *nonce;      /* owned: of its last words */
    bool agreed;      /* the engine passes on what it is sent */
    double begun;     /* CLOCK_MONOTONIC seconds */
    double seconds;   /* from then until it agreed */
};

/* Begins to start one in CONTAINER, an id; KEY is taken. */
void kept_wait_start(struct kept_wait *wait, const struct docker_site *site, const char *container,
                     json_t *key);

/* It has not ended. */
bool kept_wait_is_there(const struct kept_wait *wait);

/* Seconds that have been spent on its start. */
double kept_wait_seconds(const struct kept_wait *wait);

/* Who has TO hears of it now, and whether it can be sent something; if not, TO is told when. */
bool kept_wait_take(struct kept_wait *wait, struct exec *to);

/* What became of a call that has taken one. */
struct kept_ask {
    struct docker_go go;
    bool is_for_it; /* what has waited is like the call; else it only has to end */
    double seconds; /* that had been spent on it before the call */
    bool is_asked;  /* it got the go */
    bool has_begun; /* it has answered; or the call has a program of its own */
    bool answered[FRAME_STREAMS];
};

/* Tells EXEC the go, or what it ends at. */
void kept_ask_send(struct kept_ask *ask, struct exec *exec);

/* The call has a program of its own instead. */
void kept_ask_drop(struct kept_ask *ask);

/* True when DATA, with LENGTH, is output of the script, less the answer, which is the first byte of
 * each stream. */
bool kept_ask_skip_answer(struct kept_ask *ask, enum frame_stream stream, const char **data,
                          size_t *length);

/* Its container goes. Harmless when nothing waits. */
void kept_wait_stop(struct kept_wait *wait);
