/* A container that was started ahead of its script, for a call that is expected: its init waits
 * (engine/go.h), and nothing of any script has run in it.
 *
 * The file that is laid over script.py is empty until then, and filled in its place. */
#pragma once

#include "base/list.h"
#include "environments/docker/direct_streams.h"
#include "environments/engine/container.h"

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
    void (*over)(struct ahead_container *container); /* without having been taken */
    struct ahead_pool *pool;                         /* borrowed */

    struct list link; /* in its pool */
    enum ahead_container_state state;
    struct container container;
    struct direct_streams streams;  /* of that, where there can be such */
    json_t *key;                    /* owned: that of its order */
    char *directory;                /* owned: the path of the working directory */
    const struct docker_site *site; /* borrowed */
    bool has_printed;               /* it is ended for that */
    char *name;                     /* owned */
    char *nonce;                    /* owned: of the last words */
    char *code_file;                /* owned: the path of the file over script.py */
    int code;                       /* owned: the same, for writing */
    double begun;                   /* CLOCK_MONOTONIC seconds */
    double seconds;                 /* that it took until a script could run there, or came */
};

/* Begins to start one for ORDER, whose KEY is taken; `over` may come from then on, never from
 * inside this call. NULL with ERR. */
struct ahead_container *ahead_container_new(const struct docker_order *order, json_t *key,
                                            struct error *err);

/* Removes it, unless its run has it. */
void ahead_container_free(struct ahead_container *container);

/* Where a run has what it takes of one. */
struct ahead_container_places {
    struct container *container;
    struct direct_streams *streams;
    struct docker_go *go; /* what the container is to be told when it runs */
};

/* Puts CODE into its place, and moves all that belongs to the container TO where its run has it.
 * *RET_RUNS says whether it runs. */
int ahead_container_take(struct ahead_container *container, const char *code, size_t length,
                         const struct ahead_container_places *to, bool *ret_runs,
                         struct error *err);
