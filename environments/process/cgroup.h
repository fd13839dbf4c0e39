/* Control groups: one leaf per process tree, for limits and for killing what is in it.
 *
 * Whatever is mounted and writable is used: the v2 hierarchy, v1 hierarchies of the pids and memory
 * controllers, or both (a hybrid host kills through v2 and limits through v1). A leaf is called
 * pyexecd-NAMESPACE-PID-START-NUMBER, after the PID namespace, pid and start time of its server, so
 * that a later server can tell leaves of the dead from those of the living. */
#pragma once

#include "base/error.h"
#include "environments/process/receipt.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_tree;
struct cgroup_leaf;

/* Finds out what can be used; never fails, a tree may offer nothing. Removes dead servers' leaves.
 */
struct cgroup_tree *cgroup_tree_new(void);
void cgroup_tree_free(struct cgroup_tree *tree);

/* Removes leaves that were still busy when they were freed; false while some are. */
bool cgroup_tree_finish(struct cgroup_tree *tree);

bool cgroup_tree_can_kill(const struct cgroup_tree *tree);
bool cgroup_tree_limits_memory(const struct cgroup_tree *tree);
bool cgroup_tree_limits_processes(const struct cgroup_tree *tree);

/* LIMITER_RLIMITS when it limits nothing. */
enum process_limiter cgroup_tree_limiter(const struct cgroup_tree *tree);

/* Makes a leaf. NULL with ERR when the tree offers nothing or a directory cannot be made. */
struct cgroup_leaf *cgroup_leaf_new(struct cgroup_tree *tree, struct error *err);

/* Removes the leaf's directories and frees it; a directory that is still busy is removed later, by
 * cgroup_tree_finish or with the next leaf. */
void cgroup_leaf_free(struct cgroup_leaf *leaf);

/* The leaf's directories, NULL-terminated; borrowed. */
char *const *cgroup_leaf_directories(const struct cgroup_leaf *leaf);

/* Limits in bytes and in tasks, as far as the tree has them. */
int cgroup_leaf_limit(struct cgroup_leaf *leaf, uint64_t memory, unsigned tasks, struct error *err);

/* SIGKILL to everything in the leaf; nothing when the tree cannot kill. */
void cgroup_leaf_kill(struct cgroup_leaf *leaf);

/* False while a process is known to be in the leaf. */
bool cgroup_leaf_is_empty(const struct cgroup_leaf *leaf);

/* True when the memory limit killed something in it. */
bool cgroup_leaf_was_out_of_memory(const struct cgroup_leaf *leaf);

/* Most memory ever used by the leaf in bytes, page cache included; 0 when unknown. */
uint64_t cgroup_leaf_peak(const struct cgroup_leaf *leaf);
