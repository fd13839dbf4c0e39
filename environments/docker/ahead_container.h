/* A container that was started ahead of its script, for a call that is expected: its init waits
 * (engine/init_protocol.h), and nothing of any script has run in it.
 *
 * The file that is laid over script.py is empty until the call comes, and is then filled in place.
 */
#pragma once

#include "environments/docker/script_file.h"
#include "environments/docker/tree.h"
#include "environments/execution.h"
#include "environments/process/waiting.h"

#include <jansson.h>
#include <stdbool.h>

struct ahead_pool;

struct ahead_container {
    /* Inputs, set by its pool. */
    void (*over)(struct ahead_container *container); /* it has ended without being taken */
    struct ahead_pool *pool;                         /* borrowed */

    struct waiting waiting; /* in its pool */
    struct docker_tree_owner owner;
    struct docker_tree *tree;           /* owned; NULL: a run has taken it */
    struct execution_listener listener; /* to its output */
    struct docker_go go;                /* for the run that has taken it */
    json_t *key;                        /* owned: the key of its order */
    char *directory;                    /* owned: the path of the working directory */
    bool has_printed;                   /* output without a script: the container is killed */
    char *code_file;                    /* owned: the path of the file over script.py */
    int code;                           /* owned: that file, open for writing */
};

/* Begins to start a container for ORDER, whose KEY is taken; `over` may come from then on, never
 * from inside this call. NULL with ERR. */
struct ahead_container *ahead_container_new(const struct docker_order *order, json_t *key,
                                            struct error *err);

/* Removes the container, unless a run has taken it. */
void ahead_container_free(struct ahead_container *container);

/* Writes CODE into the file over script.py, and makes the go for it. Returns the tree, which
 * belongs to the caller; NULL with ERR. */
struct docker_tree *ahead_container_take(struct ahead_container *container, const char *code,
                                         size_t length, struct error *err);
