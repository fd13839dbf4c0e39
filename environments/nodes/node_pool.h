/* The nodes of a configuration. Each definition (`nodes` in schemas/config.json) is a pool of equal
 * nodes, which are launched when they are wanted, and kept for a while.
 *
 * A stay gets a free node, else the next one; owners with the fewest nodes come first. As many are
 * launched as wait for one, and never more than `most` live at once. */
#pragma once

#include "environments/environment.h"
#include "environments/nodes/node_link.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct nodes;
struct node_pool;

struct nodes_settings {
    struct ev_loop *loop; /* borrowed */
    const char *place;    /* a directory below which all working directories are; copied */
    bool is_best_effort;  /* containment: best-effort */
};

struct nodes *nodes_new(const struct nodes_settings *settings);

/* Ends all nodes, and all stays; `nodes_are_idle` when their launchers have ended. Nobody waits. */
void nodes_stop(struct nodes *nodes);
bool nodes_are_idle(const struct nodes *nodes);

/* Kills their launchers that have not ended, with all children: nobody looks at them any more. */
void nodes_kill(struct nodes *nodes);
void nodes_free(struct nodes *nodes);

/* A number for an environment of theirs, which no other has. */
uint32_t nodes_number(struct nodes *nodes);

/* The pool of DEFINITION, {name, launcher, most, idle, files}: the same one for an equal
 * definition. To be released; then its nodes end when nobody has it. */
struct node_pool *node_pool_hold(struct nodes *nodes, const json_t *definition);
void node_pool_release(struct node_pool *pool);

/* Its nodes, for environment_ops. Borrowed. */
const struct environment_machines *node_pool_machines(const struct node_pool *pool);

/* The name of its definition. Borrowed. */
const char *node_pool_name(const struct node_pool *pool);

/* True when its nodes have copies of working directories, and not the server's. */
bool node_pool_has_copies(const struct node_pool *pool);

/* True when each of its nodes has looked for files in a place that holds DIRECTORY. */
bool node_pool_has_tried(const struct node_pool *pool, const char *directory);

/* STAY, whose callbacks are set, wants a node. True: it has one at once. */
bool node_pool_enter(struct node_pool *pool, struct node_stay *stay);

/* STAY wants no node any more. Harmless if it has left, or is lost. */
void node_pool_leave(struct node_stay *stay);
