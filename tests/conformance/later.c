#include "tests/conformance/later.h"

#include "base/list.h"
#include "base/memory.h"

#include <ev.h>
#include <stdlib.h>

struct wait {
    struct ev_timer timer;
    struct invocation *invocation; /* borrowed; its `work` is this */
    void (*step)(struct invocation *invocation);
};

void later_cancel(struct invocation *invocation)
{
    struct wait *wait = invocation->work;

    ev_timer_stop(EV_DEFAULT, &wait->timer);
    free(wait);
    invocation->work = NULL;
}

static void on_time(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct wait *wait = CONTAINER_OF(timer, struct wait, timer);
    struct invocation *invocation = wait->invocation;
    void (*step)(struct invocation *) = wait->step;

    (void)loop;
    (void)events;
    later_cancel(invocation);
    step(invocation);
}

enum outcome later(struct invocation *invocation, double seconds,
                   void (*step)(struct invocation *invocation))
{
    struct wait *wait = NEW(struct wait);

    wait->invocation = invocation;
    wait->step = step;
    invocation->work = wait;
    ev_timer_init(&wait->timer, on_time, seconds, 0);
    ev_timer_start(EV_DEFAULT, &wait->timer);
    return OUTCOME_PENDING;
}
