#include "environments/notebook/lineage.h"

void lineage_init(struct lineage *lineage)
{
    lineage->first = NULL;
    list_init(&lineage->copies);
    list_init(&lineage->link);
}

void lineage_join(struct lineage *copy, struct lineage *origin)
{
    copy->first = origin->first ? origin->first : origin;
    list_append(&copy->first->copies, &copy->link);
}

void lineage_leave(struct lineage *lineage)
{
    LIST_FOR_EACH_SAFE (&lineage->copies, link) {
        CONTAINER_OF(link, struct lineage, link)->first = NULL;
        list_remove(link);
    }
    list_remove(&lineage->link);
    lineage->first = NULL;
}

bool lineage_carries_others(const struct lineage *lineage)
{
    return !list_is_empty(&lineage->copies);
}
