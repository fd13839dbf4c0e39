#include "tests/conformance/later.h"

#include "base/list.h"
#include "base/memory.h"

#include <ev.h>
#include <stdlib.h>

struct wait {
    struct ev_timer timer;
    struct invocation *call; /* borrowed; its `work` is this */
    void (*step)(struct invocation *call);
};

void later_cancel(struct invocation *call)
{
    struct wait *wait = call->work;

    ev_timer_stop(EV_DEFAULT, &wait->timer);
    free(wait);
    call->work = NULL;
}

static void on_time(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct wait *wait = CONTAINER_OF(timer, struct wait, timer);
    struct invocation *call = wait->call;
    void (*step)(struct invocation *) = wait->step;

    (void)loop;
    (void)events;
    later_cancel(call);
    step(call);
}

enum outcome later(struct invocation *call, double seconds, void (*step)(struct invocation *call))
{
    struct wait *wait = NEW(struct wait);

    wait->call = call;
    wait->step = step;
    call->work = wait;
    ev_timer_init(&wait->timer, on_time, seconds, 0);
    ev_timer_start(EV_DEFAULT, &wait->timer);
    return OUTCOME_PENDING;
}
