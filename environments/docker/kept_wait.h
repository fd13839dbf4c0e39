/* A run that waits for its script in a kept container. Its pyexecd-init waits (engine/go.h): it is
 * mounted from the machine, so no script can have changed it. Its Python starts only when the
 * script comes, because Python loads files that earlier scripts may have left.
 *
 * It is started when nothing of a script lives in the container, and taken or sent away before the
 * next one begins. */
#pragma once

#include "environments/docker/tree.h"

#include <jansson.h>

struct kept_wait {
    struct docker_tree_owner owner;
    struct docker_tree *tree; /* owned; NULL: nothing waits */
    json_t *key;              /* owned: its definition */
};

/* Begins to start a waiting run in CONTAINER, an id; KEY is taken. */
void kept_wait_start(struct kept_wait *wait, const struct docker_site *site, const char *container,
                     json_t *key);

/* The waiting run, which belongs to the caller. */
struct docker_tree *kept_wait_take(struct kept_wait *wait);

/* Its container is removed. Harmless when no run waits. */
void kept_wait_stop(struct kept_wait *wait);
