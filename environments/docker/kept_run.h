/* The runs of a call in its kept container: the run that waits there for the script, and those that
 * are tried after it. */
#pragma once

#include "environments/docker/tree.h"

#include <jansson.h>

/* A run that waits for its script in a kept container. Its pyexecd-init waits for the go: it is
 * mounted from the machine, so no script can have changed it. Its Python starts only when the
 * script comes, because Python loads files that earlier scripts may have left.
 *
 * It is started when nothing of a script lives in the container, and taken or sent away before the
 * next one begins. */
struct kept_wait {
    struct docker_tree_owner owner;
    struct docker_tree *tree; /* owned; NULL: nothing waits */
    json_t *key;              /* owned: its definition */
};

/* Where runs are executed. Everything is borrowed. */
struct kept_place {
    struct docker_site *site;
    const char *container; /* its id */
    const char *streams;   /* the directory for its streams (direct_streams.h); NULL: none */
};

/* Begins to execute DEFINITION in TREE; see docker_tree_execute. */
void kept_place_execute(const struct kept_place *place, struct docker_tree *tree,
                        const json_t *definition, bool awaits);

/* Begins to start a waiting run at PLACE; KEY is taken. */
void kept_wait_start(struct kept_wait *wait, const struct kept_place *place, json_t *key);

/* The waiting run, which belongs to the caller. */
struct docker_tree *kept_wait_take(struct kept_wait *wait);

/* Its container is removed. Harmless when no run waits. */
void kept_wait_stop(struct kept_wait *wait);

/* The runs by which a call is tried, one after the other.
 *
 * A run gets the go, and its init says INIT_BEGUN before anything runs: without that nothing has
 * run. So it is known whether the script has begun when its container is removed from outside. An
 * engine in a virtual machine shows other numbers of files, so its inits refuse every go; there the
 * script is executed without one. */
enum kept_try {
    KEPT_TRY_WAITING, /* the run that waits in the container */
    KEPT_TRY_OWN,     /* a run that is started for the call */
    KEPT_TRY_PLAIN,   /* the same, without a go */
    KEPT_TRY_NONE,    /* the container is no good */
};

/* The next step after STEP, whose run TREE has ended and never begun. */
enum kept_try kept_try_next(enum kept_try step, const struct docker_tree *tree);
