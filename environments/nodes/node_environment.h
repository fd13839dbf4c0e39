/* An environment on a node: it is prepared there, and its scripts are executed there, in working
 * directories that both machines have at the same path.
 *
 * The first preparation finds out what the nodes give. It holds for all nodes of the pool, which
 * should be equal. Each node is asked once more before it gets its first execution: one that cannot
 * lay code over a script gets none to lay over. A sandbox is not optional: the level of a run is
 * decided before it has a node. */
#pragma once

#include "environments/environment.h"
#include "environments/nodes/node_message.h"
#include "environments/nodes/node_pool.h"

struct node_environment {
    struct environment environment;
    struct node_pool *pool; /* held; NULL in a catalog that runs nothing */
    uint32_t number;        /* by which nodes know it */
    struct node_stay stay;  /* of the preparation */
    struct node_facts facts;
};

/* True when DEFINITION has a `node`. */
bool node_environment_is_wanted(const json_t *definition);

/* The definition of the pool of DEFINITION, or NULL. Borrowed. */
const json_t *node_environment_pool(const json_t *definition);

/* Reads the sandbox of DEFINITION, whose places are paths of a node, and stay as they are. See
 * sandbox_settings_read. */
int node_environment_read_sandbox(struct sandbox_settings *settings, const json_t *definition,
                                  const char **ret_key, struct error *err);

/* For a definition with a `node`, which is that of the pool. See environment_kind. */
struct environment *node_environment_new(struct environment_recipe *recipe);
