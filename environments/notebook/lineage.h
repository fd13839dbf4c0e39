/* A family of sessions: a first session, begun with `new`, and all copies of it and of its copies.
 *
 * All are in one PID namespace, and its supervisor belongs to the first session. So all end with
 * the first session, which is not closed for being unused while it has copies. Each counts as a
 * session. */
#pragma once

#include "base/list.h"

#include <stdbool.h>

/* The place of a session in its family; all links are in no list at first. */
struct lineage {
    struct lineage *first; /* borrowed; NULL: it is the first itself, or the first has gone */
    struct list copies;    /* in the first: of struct lineage, by `link` */
    struct list link;
};

void lineage_init(struct lineage *lineage);

/* COPY was made from ORIGIN. */
void lineage_join(struct lineage *copy, struct lineage *origin);

/* Takes LINEAGE out of its family. */
void lineage_leave(struct lineage *lineage);

/* True when other sessions end with it. */
bool lineage_carries_others(const struct lineage *lineage);
