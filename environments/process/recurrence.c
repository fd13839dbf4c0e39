#include "environments/process/recurrence.h"

void recurrence_init(struct recurrence *recurrence)
{
    list_init(&recurrence->kept);
}

void recurrence_end(struct recurrence *recurrence)
{
    while (!list_is_empty(&recurrence->kept)) {
        struct recurrent *recurrent = CONTAINER_OF(recurrence->kept.next, struct recurrent, link);

        list_remove(&recurrent->link);
        recurrent->forget(recurrent);
    }
}

void recurrence_keep(struct recurrence *recurrence, struct recurrent *recurrent)
{
    list_append(&recurrence->kept, &recurrent->link);
}

void recurrence_keep_with(struct recurrent *other, struct recurrent *recurrent)
{
    list_append(&other->link, &recurrent->link);
}

void recurrent_withdraw(struct recurrent *recurrent)
{
    list_remove(&recurrent->link);
}
