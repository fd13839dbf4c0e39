#include "base/memory.h"
#include "slow_environment.h"

#include <stdlib.h>

unsigned slow_alive;
unsigned slow_stopped;

struct slow_environment *slow_of(const struct environment *environment)
{
    return CONTAINER_OF(environment, struct slow_environment, environment);
}

static void stop(struct environment *environment)
{
    (void)environment;
    slow_stopped++;
}

static bool is_idle(const struct environment *environment)
{
    return !slow_of(environment)->is_slow;
}

static void slow_free(struct environment *environment)
{
    environment_deinit(environment);
    free(slow_of(environment));
    slow_alive--;
}

static const struct environment_kind slow_kind = {.name = "slow"};

static const struct environment_ops slow_ops = {
    .kind = &slow_kind,
    .stop = stop,
    .is_idle = is_idle,
    .free = slow_free,
};

struct environment *slow_environment_new(struct ev_loop *loop)
{
    struct slow_environment *slow = NEW(struct slow_environment);
    struct environment_recipe recipe = {.name = "x", .loop = loop};

    environment_init(&slow->environment, &slow_ops, &recipe);
    slow_alive++;
    return &slow->environment;
}
