/* Control groups: the hierarchies that can be used, for limits and for killing.
 *
 * Every hierarchy that is mounted and writable is used: the v2 hierarchy, v1 hierarchies of the
 * pids and memory controllers, or both (a hybrid host kills through v2 and limits through v1). Each
 * process tree gets a leaf (cgroup_leaf.h) called pyexecd-NAMESPACE-PID-START-NUMBER, after the PID
 * namespace, pid and start time of its server, so that a later server can tell leaves of dead
 * servers from leaves of living ones. */
#pragma once

#include "environments/process/receipt.h"

#include <stdbool.h>

struct cgroup_tree;

/* Finds the hierarchies that can be used; never fails, a tree may offer nothing. Removes dead
 * servers' leaves. */
struct cgroup_tree *cgroup_tree_new(void);

/* TREE has no leaf any more: they are freed or retired. */
void cgroup_tree_free(struct cgroup_tree *tree);

/* Removes leaves that were still busy when they were freed; false while some are. */
bool cgroup_tree_finish(struct cgroup_tree *tree);

/* True when there is no hierarchy in which leaves can be made. */
bool cgroup_tree_is_empty(const struct cgroup_tree *tree);

bool cgroup_tree_can_kill(const struct cgroup_tree *tree);
bool cgroup_tree_limits_memory(const struct cgroup_tree *tree);
bool cgroup_tree_limits_processes(const struct cgroup_tree *tree);

/* LIMITER_RLIMITS when it limits nothing. */
enum process_limiter cgroup_tree_limiter(const struct cgroup_tree *tree);
