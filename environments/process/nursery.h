/* Nurseries: the trees of zygotes. A zygote is a Python that has started ahead of any code and
 * never runs a script: it makes a worker, a copy of itself, for each call (core/worker.h). A worker
 * has a tree of its own, held as the tree of any run; the nursery stays WAITING until it is ended.
 */
#pragma once

#include "environments/process/tree_private.h"

/* News of a zygote. If it does not wait any more, its tree ends with the last of its workers. */
enum nursery_news {
    NURSERY_WAITS,       /* for orders */
    NURSERY_OUT_OF_DATE, /* it ends; another zygote can be had */
    NURSERY_FAILED,      /* it ends; another cannot be had */
};

typedef void nursery_note(struct tree *tree, enum nursery_news news);

/* Starts a nursery for HOST that builds PLAN, with the zygote for FORECAST, which it holds. NULL
 * with ERR. */
struct tree *nursery_new(struct process_host *host, const struct tree_plan *plan,
                         struct forecast *forecast, nursery_note *note, struct error *err);

/* True when the zygote of TREE has tried all modules of PRELOADS (or NULL); else it imports one of
 * them, and takes orders meanwhile. */
bool nursery_load(struct tree *tree, struct preloads *preloads);

/* Bytes of memory that the zygote of TREE has for itself. */
uint64_t nursery_measure(const struct tree *tree);

/* The tree of a new worker of the nursery PARENT, which is WAITING. NULL with ERR. */
struct tree *nursery_make_worker(struct tree *parent, struct error *err);

/* No worker is made in TREE any more: it ends when its last worker is over. */
void nursery_retire(struct tree *tree);
