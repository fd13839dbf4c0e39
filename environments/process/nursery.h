/* Nurseries: the trees of zygotes. A zygote is a Python that has started ahead of any code and
 * never runs some: it makes a worker, a copy of itself, for each call (core/worker.h). The tree of
 * a worker is one of its own, held as that of any run; the nursery stays WAITING until it is ended.
 */
#pragma once

#include "environments/process/tree_private.h"

/* What has become of a zygote. Of one that does not wait any more the tree ends with the last of
 * its workers. */
enum nursery_news {
    NURSERY_WAITS,       /* for orders */
    NURSERY_OUT_OF_DATE, /* another one can be had */
    NURSERY_FAILED,      /* likewise not */
};

typedef void nursery_note(struct tree *tree, enum nursery_news news);

/* Starts a nursery for HOST that builds PLAN, with the zygote that FORECAST (taken on success)
 * says. NULL with ERR. */
struct tree *nursery_new(struct process_host *host, const struct tree_plan *plan,
                         struct forecast *forecast, nursery_note *note, struct error *err);

/* True when the zygote of TREE, which waits for orders, has imported what PRELOADS (or NULL) names,
 * as far as it can; else it is at it, and waits again later. */
bool nursery_load(struct tree *tree, struct preloads *preloads);

/* Bytes of memory that its zygote has for itself. */
uint64_t nursery_measure(const struct tree *tree);

/* The tree of a new worker of the nursery PARENT, which is WAITING. NULL with ERR. */
struct tree *nursery_breed(struct tree *parent, struct error *err);

/* No worker is made in TREE any more: it ends when those that it has are over. */
void nursery_retire(struct tree *tree);
