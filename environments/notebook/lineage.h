/* A family of sessions: one that was begun with `new`, and all copies of it and of its copies.
 *
 * They are in one PID namespace, whose supervisor is that of the first one. So all end with that,
 * and it is not closed for being unused while one of them is there. Each counts as a session. */
#pragma once

#include "base/list.h"

#include <stdbool.h>

/* The place of a session in its family; all links are in no list at first. */
struct lineage {
    struct lineage *first; /* borrowed; NULL: it is the first one, or that has gone */
    struct list copies;    /* of the first one: of struct lineage, by `link` */
    struct list link;
};

void lineage_init(struct lineage *lineage);

/* COPY was made from ORIGIN. */
void lineage_join(struct lineage *copy, struct lineage *origin);

/* LINEAGE is no more. */
void lineage_leave(struct lineage *lineage);

/* True when other sessions end with it. */
bool lineage_carries_others(const struct lineage *lineage);
