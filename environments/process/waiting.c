#include "environments/process/waiting.h"

#include <math.h>

void waiting_init(struct waiting *waiting)
{
    list_init(&waiting->link);
}

void waiting_withdraw(struct waiting *waiting)
{
    list_remove(&waiting->link);
}

void expectation_raise(struct expectation *expectation)
{
    if (expectation->wanted < WAITING_EQUAL)
        expectation->wanted++;
}

void expectation_close(struct expectation *expectation, double now)
{
    expectation->pause =
        fmin(fmax(2 * expectation->pause, WAITING_PAUSE_SECONDS), WAITING_PAUSE_MOST);
    expectation->closed_until = now + expectation->pause;
}

void expectation_open(struct expectation *expectation)
{
    expectation->pause = 0;
}

void waiting_room_init(struct waiting_room *room, const struct waiting_rules *rules)
{
    room->rules = rules;
    list_init(&room->list);
}

struct waiting_sum waiting_room_sum(const struct waiting_room *room)
{
    struct waiting_sum sum = {0};

    LIST_FOR_EACH (&room->list, link) {
        sum.count++;
        sum.memory += CONTAINER_OF(link, struct waiting, link)->memory;
    }
    return sum;
}

unsigned waiting_room_count(const struct waiting_room *room, const struct expectation *expectation)
{
    unsigned count = 0;

    LIST_FOR_EACH (&room->list, link)
        count += CONTAINER_OF(link, struct waiting, link)->expectation == expectation;
    return count;
}

struct waiting *waiting_room_find(const struct waiting_room *room,
                                  const struct expectation *expectation)
{
    LIST_FOR_EACH (&room->list, link) {
        struct waiting *waiting = CONTAINER_OF(link, struct waiting, link);

        if (waiting->expectation == expectation)
            return waiting;
    }
    return NULL;
}

struct waiting *waiting_room_take(struct waiting_room *room, struct expectation *expectation,
                                  double now)
{
    struct waiting *waiting = waiting_room_find(room, expectation);

    expectation->used = now;
    if (waiting)
        waiting_withdraw(waiting);
    return waiting;
}

static void waiting_room_remove(const struct waiting_room *room, struct waiting *waiting)
{
    waiting_withdraw(waiting);
    room->rules->end(waiting);
}

static bool waiting_room_is_over(const struct waiting_room *room, unsigned more)
{
    const struct waiting_sum sum = waiting_room_sum(room);
    const struct waiting_rules *rules = room->rules;

    return sum.count + more > rules->most || (rules->memory > 0 && sum.memory > rules->memory);
}

void waiting_room_bound(struct waiting_room *room, const struct waiting *latest, unsigned more)
{
    LIST_FOR_EACH_SAFE (&room->list, link) {
        struct waiting *waiting = CONTAINER_OF(link, struct waiting, link);

        if (!waiting_room_is_over(room, more))
            return;
        if (waiting != latest)
            waiting_room_remove(room, waiting);
    }
}

/* True if the room is full of what was begun or used just now. */
static bool waiting_room_is_crowded(const struct waiting_room *room, double now)
{
    return waiting_room_is_over(room, 1) && !list_is_empty(&room->list) &&
           now - CONTAINER_OF(room->list.next, struct waiting, link)->since < WAITING_YOUNG_SECONDS;
}

bool waiting_room_restock(struct waiting_room *room, struct expectation *expectation, double now)
{
    for (unsigned count = waiting_room_count(room, expectation); count < expectation->wanted;
         count++) {
        struct waiting *waiting;

        if (now < expectation->closed_until || waiting_room_is_crowded(room, now))
            return false;
        waiting_room_bound(room, NULL, 1);
        waiting = room->rules->make(expectation);
        if (!waiting)
            return false;
        waiting->expectation = expectation;
        waiting_room_use(room, waiting, now);
    }
    return true;
}

void waiting_room_use(struct waiting_room *room, struct waiting *waiting, double now)
{
    waiting->since = now;
    list_remove(&waiting->link);
    list_append(&room->list, &waiting->link);
}

/* True if WAITING has waited for too long, or is one too many for a quiet expectation. */
static bool waiting_room_has_enough(const struct waiting_room *room, const struct waiting *waiting,
                                    double now)
{
    struct expectation *expectation = waiting->expectation;

    if (now - waiting->since >= WAITING_SECONDS)
        return true;
    if (now - expectation->used < WAITING_QUIET_SECONDS)
        return false;
    expectation->wanted = 1;
    return waiting_room_count(room, expectation) > 1;
}

bool waiting_room_expire(struct waiting_room *room, double now)
{
    LIST_FOR_EACH_SAFE (&room->list, link) {
        struct waiting *waiting = CONTAINER_OF(link, struct waiting, link);

        if (waiting_room_has_enough(room, waiting, now))
            waiting_room_remove(room, waiting);
    }
    return !list_is_empty(&room->list);
}

void waiting_room_end(struct waiting_room *room, const struct expectation *expectation)
{
    LIST_FOR_EACH_SAFE (&room->list, link) {
        struct waiting *waiting = CONTAINER_OF(link, struct waiting, link);

        if (waiting->expectation == expectation)
            waiting_room_remove(room, waiting);
    }
}
