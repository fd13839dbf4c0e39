#include "environments/catalog/retirement.h"

#include "base/memory.h"
#include "environments/environment.h"

#include <stdlib.h>

struct retired {
    struct list link;
    struct environment *environment; /* owned */
    bool is_stopped;
};

static struct retired *retired_of(struct list *link)
{
    return CONTAINER_OF(link, struct retired, link);
}

static void retired_free(struct retirement *retirement, struct retired *retired)
{
    list_remove(&retired->link);
    retirement->count--;
    environment_free(retired->environment);
    free(retired);
}

static void retirement_stop_one(struct retired *retired)
{
    if (!retired->is_stopped)
        environment_stop(retired->environment);
    retired->is_stopped = true;
}

/* Stops or frees RETIRED, if that is possible now. */
static void let_go(struct retirement *retirement, struct retired *retired)
{
    if (retired->environment->users > 0)
        return;
    retirement_stop_one(retired);
    if (environment_is_idle(retired->environment))
        retired_free(retirement, retired);
}

static void retirement_on_prepare(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
    struct retirement *retirement = CONTAINER_OF(prepare, struct retirement, prepare);

    (void)events;
    LIST_FOR_EACH_SAFE (&retirement->going, link) {
        let_go(retirement, retired_of(link));
    }
    if (list_is_empty(&retirement->going))
        ev_prepare_stop(loop, prepare);
}

void retirement_init(struct retirement *retirement, struct ev_loop *loop)
{
    *retirement = (struct retirement){.loop = loop};
    list_init(&retirement->going);
    ev_prepare_init(&retirement->prepare, retirement_on_prepare);
}

void retirement_deinit(struct retirement *retirement)
{
    ev_prepare_stop(retirement->loop, &retirement->prepare);
    LIST_FOR_EACH_SAFE (&retirement->going, link) {
        retired_free(retirement, retired_of(link));
    }
}

void retirement_add(struct retirement *retirement, struct environment *environment)
{
    struct retired *retired = NEW(struct retired);

    retired->environment = environment;
    list_append(&retirement->going, &retired->link);
    retirement->count++;
    let_go(retirement, retired);
    if (!list_is_empty(&retirement->going))
        ev_prepare_start(retirement->loop, &retirement->prepare);
}

void retirement_stop(struct retirement *retirement)
{
    LIST_FOR_EACH (&retirement->going, link)
        retirement_stop_one(retired_of(link));
}

bool retirement_is_idle(const struct retirement *retirement)
{
    LIST_FOR_EACH (&retirement->going, link) {
        if (!environment_is_idle(retired_of(link)->environment))
            return false;
    }
    return true;
}
