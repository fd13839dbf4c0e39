/* A container that was started ahead of its script, for a call that is expected: its init waits
 * (engine/go.h), and nothing of any script has run in it.
 *
 * The file that is laid over script.py is empty until the call comes, and is then filled in place.
 */
#pragma once

#include "environments/docker/direct_streams.h"
#include "environments/docker/output.h"
#include "environments/engine/container.h"
#include "environments/execution.h"
#include "environments/process/waiting.h"

#include <jansson.h>
#include <stdbool.h>

struct ahead_pool;
struct docker_go;
struct docker_order;

enum ahead_container_state {
    AHEAD_CONTAINER_STARTING, /* waits for the engine */
    AHEAD_CONTAINER_WAITING,  /* for a script */
    AHEAD_CONTAINER_TAKEN,    /* by a run, which hears of the container now */
    AHEAD_CONTAINER_OVER,     /* it has ended, or must */
};

struct ahead_container {
    /* Inputs, set by its pool. */
    void (*over)(struct ahead_container *container); /* it has ended without being taken */
    struct ahead_pool *pool;                         /* borrowed */

    struct waiting waiting; /* in its pool */
    enum ahead_container_state state;
    struct container container;
    struct direct_streams streams;      /* of the container, if the engine is local */
    struct docker_output output;        /* on any of these streams */
    struct execution_listener listener; /* to it */
    json_t *key;                        /* owned: the key of its order */
    char *directory;                    /* owned: the path of the working directory */
    const struct docker_site *site;     /* borrowed */
    bool has_printed;                   /* output without a script: the container is killed */
    char *name;                         /* owned */
    char *code_file;                    /* owned: the path of the file over script.py */
    int code;                           /* owned: that file, open for writing */
    double seconds; /* from its start until it was ready for a script, or a script came */
};

/* Begins to start a container for ORDER, whose KEY is taken; `over` may come from then on, never
 * from inside this call. NULL with ERR. */
struct ahead_container *ahead_container_new(const struct docker_order *order, json_t *key,
                                            struct error *err);

/* Removes the container, unless a run has taken it. */
void ahead_container_free(struct ahead_container *container);

/* The fields of a run that receive the parts of a container ahead. */
struct ahead_container_places {
    struct container *container;
    struct direct_streams *streams;
    struct docker_output *output;
    struct docker_go *go; /* the go to send when the container runs */
};

/* Writes CODE into the file over script.py, and moves the container and its streams TO the run.
 * *RET_RUNS says whether the container runs already. */
int ahead_container_take(struct ahead_container *container, const char *code, size_t length,
                         const struct ahead_container_places *to, bool *ret_runs,
                         struct error *err);
