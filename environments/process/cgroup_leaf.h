/* A control group for one process tree: a directory in each hierarchy that can be used, in which
 * the tree is limited, counted and killed. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_leaf;
struct cgroup_tree;

/* Returns a leaf of TREE, which is not empty: one that has rested, or a new one. NULL with ERR when
 * a directory cannot be made. */
struct cgroup_leaf *cgroup_leaf_new(struct cgroup_tree *tree, struct error *err);

/* Gives LEAF (taken) to the next process tree: its own has ended, with the PID namespace that all
 * of its processes were in. A leaf that could be told from a new one is removed instead. */
void cgroup_leaf_rest(struct cgroup_leaf *leaf);

/* Removes the leaves of TREE that have rested for SECONDS. */
void cgroup_leaf_retire(struct cgroup_tree *tree, double seconds);

/* Removes the leaf's directories and frees it; a directory that is still busy is removed later, by
 * cgroup_tree_finish or with the next leaf. */
void cgroup_leaf_free(struct cgroup_leaf *leaf);

/* Borrowed. */
struct cgroup_tree *cgroup_leaf_tree(const struct cgroup_leaf *leaf);

/* The leaf's directories, NULL-terminated; borrowed. */
char *const *cgroup_leaf_directories(const struct cgroup_leaf *leaf);

/* The cgroup.procs files of LEAF, to put processes into it: COUNT descriptors at most, borrowed.
 * Returns how many. */
size_t cgroup_leaf_procs(const struct cgroup_leaf *leaf, int *ret, size_t count);

/* The id of the leaf in the v2 hierarchy, as the kernel tells it elsewhere; 0: there is none. */
uint64_t cgroup_leaf_id(const struct cgroup_leaf *leaf);

/* Limits in bytes and in tasks, as far as the tree has them. */
int cgroup_leaf_limit(struct cgroup_leaf *leaf, uint64_t memory, unsigned tasks, struct error *err);

/* Sends SIGKILL to all processes in the leaf; does nothing when the tree cannot kill. */
void cgroup_leaf_kill(struct cgroup_leaf *leaf);

/* False while a process is known to be in the leaf. */
bool cgroup_leaf_is_empty(const struct cgroup_leaf *leaf);

/* True when the memory limit has killed a process in it. */
bool cgroup_leaf_was_out_of_memory(const struct cgroup_leaf *leaf);

/* Most memory used by the leaf in bytes, page cache included, ever or since its peak was counted
 * anew; 0 when unknown. */
uint64_t cgroup_leaf_peak(const struct cgroup_leaf *leaf);

/* Counts the peak anew; false: the kernel cannot. */
bool cgroup_leaf_renew_peak(struct cgroup_leaf *leaf);

/* Returns the seconds of the processor that the leaf has used, in earlier trees, too; 0 when
 * unknown. */
double cgroup_leaf_cpu(const struct cgroup_leaf *leaf);
