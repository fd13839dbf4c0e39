/* Shared by a tree of cgroups and its leaves; see cgroup_tree.h and cgroup_leaf.h. */
#pragma once

#include "base/list.h"
#include "environments/process/cgroup_tree.h"

#include <stdbool.h>
#include <stddef.h>

enum { HIERARCHIES_MOST = 3 };

/* The uses of a hierarchy. */
enum {
    OFFERS_KILL = 1 << 0,
    OFFERS_MEMORY = 1 << 1,
    OFFERS_PROCESSES = 1 << 2,
};

struct hierarchy {
    char *directory; /* owned: our own cgroup in it; leaves are made below */
    bool unified;    /* v2 */
    unsigned offers;
};

struct cgroup_tree {
    struct hierarchy hierarchies[HIERARCHIES_MOST];
    size_t count;
    char *prefix; /* owned: of the names of our leaves */
    unsigned next;
    struct list busy; /* of struct busy: directories that could not be removed yet */
    struct list idle; /* of struct cgroup_leaf: owned; what the next trees use again, newest last */
    unsigned idlers;
};

/* Removes DIRECTORY (taken) now or, while it is busy, later. */
void cgroup_tree_remove(struct cgroup_tree *tree, char *directory);

/* Removes directories that were busy and are not any more. */
void cgroup_tree_remove_busy(struct cgroup_tree *tree);
