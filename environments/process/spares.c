#include "environments/process/spares.h"

#include <assert.h>
#include <string.h>

#define REFILL_SECONDS 0.001 /* behind the start that took a spare */

static unsigned spares_count(const struct spare_maker *maker)
{
    unsigned count = 0;

    LIST_FOR_EACH (&maker->ready, link) {
        count++;
    }
    return count;
}

static void spares_make(struct spare_maker *maker)
{
    for (unsigned count = spares_count(maker); count < maker->count; count++) {
        struct spare *spare = maker->make(maker);

        if (!spare)
            return;
        list_append(&maker->ready, &spare->link);
    }
}

static void spares_on_refill(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct spares *spares = CONTAINER_OF(timer, struct spares, refill);

    (void)loop;
    (void)events;
    LIST_FOR_EACH (&spares->makers, link) {
        spares_make(CONTAINER_OF(link, struct spare_maker, link));
    }
}

void spares_init(struct spares *spares, struct ev_loop *loop)
{
    spares->loop = loop;
    list_init(&spares->makers);
    ev_init(&spares->refill, spares_on_refill);
}

void spares_deinit(struct spares *spares)
{
    ev_timer_stop(spares->loop, &spares->refill);
}

void spares_refill(struct spares *spares)
{
    ev_timer_stop(spares->loop, &spares->refill);
    ev_timer_set(&spares->refill, REFILL_SECONDS, 0.);
    ev_timer_start(spares->loop, &spares->refill);
}

void spares_add(struct spares *spares, struct spare_maker *maker)
{
    assert(maker->key);
    list_init(&maker->ready);
    list_append(&spares->makers, &maker->link);
    spares_refill(spares);
}

static struct spare_maker *spares_find(const struct spares *spares, const char *key)
{
    LIST_FOR_EACH (&spares->makers, link) {
        struct spare_maker *maker = CONTAINER_OF(link, struct spare_maker, link);

        if (strcmp(maker->key, key) == 0)
            return maker;
    }
    return NULL;
}

struct spare *spares_take(struct spares *spares, const char *key)
{
    struct spare_maker *maker = spares_find(spares, key);
    struct spare *spare;

    if (!maker)
        return NULL;
    spares_refill(spares);
    if (list_is_empty(&maker->ready))
        return NULL;
    spare = CONTAINER_OF(maker->ready.next, struct spare, link);
    list_remove(&spare->link);
    return spare;
}

void spare_init(struct spare *spare)
{
    list_init(&spare->link);
}

void spare_withdraw(struct spare *spare)
{
    list_remove(&spare->link);
}
