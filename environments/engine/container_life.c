#include "environments/engine/container_life_private.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/engine/discard.h"

#include <stdio.h>
#include <stdlib.h>

static const struct state container_life_states[] = {
    [CONTAINER_LIFE_CREATING] = {"creating",
                                 1 << CONTAINER_LIFE_ATTACHING | 1 << CONTAINER_LIFE_STARTING |
                                     1 << CONTAINER_LIFE_UNWANTED | 1 << CONTAINER_LIFE_OVER},
    [CONTAINER_LIFE_ATTACHING] = {"attaching",
                                  1 << CONTAINER_LIFE_STARTING | 1 << CONTAINER_LIFE_OVER},
    [CONTAINER_LIFE_STARTING] = {"starting", 1 << CONTAINER_LIFE_RUNNING |
                                                 1 << CONTAINER_LIFE_REVOKING |
                                                 1 << CONTAINER_LIFE_OVER},
    [CONTAINER_LIFE_REVOKING] = {"revoking", 1 << CONTAINER_LIFE_TELLING |
                                                 1 << CONTAINER_LIFE_KILLING |
                                                 1 << CONTAINER_LIFE_OVER},
    [CONTAINER_LIFE_RUNNING] = {"running",
                                1 << CONTAINER_LIFE_TELLING | 1 << CONTAINER_LIFE_KILLING |
                                    1 << CONTAINER_LIFE_INSPECTING | 1 << CONTAINER_LIFE_OVER},
    [CONTAINER_LIFE_TELLING] = {"telling", 1 << CONTAINER_LIFE_KILLING |
                                               1 << CONTAINER_LIFE_INSPECTING |
                                               1 << CONTAINER_LIFE_OVER},
    [CONTAINER_LIFE_KILLING] = {"killing",
                                1 << CONTAINER_LIFE_INSPECTING | 1 << CONTAINER_LIFE_OVER},
    [CONTAINER_LIFE_INSPECTING] = {"inspecting", 1 << CONTAINER_LIFE_DRAINING},
    [CONTAINER_LIFE_DRAINING] = {"draining", 1 << CONTAINER_LIFE_OVER | 1 << CONTAINER_LIFE_KEPT},
    [CONTAINER_LIFE_UNWANTED] = {"unwanted", 1 << CONTAINER_LIFE_OVER},
    [CONTAINER_LIFE_OVER] = {"over", 0},
    [CONTAINER_LIFE_KEPT] = {"kept", 0},
};

/* The bound of each state in seconds; 0: there is none, or the request under way has its own.
 * CREATING, ATTACHING and STARTING share the time to start. */
static const double container_life_bounds[] = {
    [CONTAINER_LIFE_REVOKING] = CONTAINER_KILL_SECONDS,
    [CONTAINER_LIFE_TELLING] = CONTAINER_MERCY_SECONDS,
    [CONTAINER_LIFE_KILLING] = CONTAINER_KILL_SECONDS,
    [CONTAINER_LIFE_DRAINING] = CONTAINER_DRAIN_SECONDS,
    [CONTAINER_LIFE_UNWANTED] = ENGINE_CLEAN_UP_SECONDS,
    [CONTAINER_LIFE_KEPT] = 0,
};

static const char *container_life_name(const struct container_life *life)
{
    return life->name ? life->name : "without a name";
}

/* Nothing is waited for any more. */
static void container_life_stop(struct container_life *life)
{
    ev_timer_stop(engine_loop(life->engine), &life->bound);
    engine_request_cancel(&life->request);
    engine_request_cancel(&life->signal);
    hijack_cancel(&life->hijack);
}

static void container_life_free(struct container_life *life)
{
    list_remove(&life->duty.link);
    container_life_stop(life);
    free(life->name);
    free(life->id);
    free(life);
}

void container_life_set_bound(struct container_life *life, double seconds)
{
    struct ev_loop *loop = engine_loop(life->engine);

    ev_timer_stop(loop, &life->bound);
    if (seconds <= 0)
        return;
    ev_now_update(loop);
    ev_timer_set(&life->bound, seconds, 0.);
    ev_timer_start(loop, &life->bound);
}

void container_life_set_state(struct container_life *life, enum container_life_state state)
{
    state_change(container_life_states, life->state, state, "container %s",
                 container_life_name(life));
    life->state = state;
    if (state > CONTAINER_LIFE_STARTING)
        container_life_set_bound(life, container_life_bounds[state]);
    if (state == CONTAINER_LIFE_UNWANTED)
        engine_add_duty(life->engine, &life->duty);
    if (state == CONTAINER_LIFE_OVER || state == CONTAINER_LIFE_KEPT)
        container_life_stop(life);
}

void container_life_note_failure(struct container_life *life, const char *text)
{
    if (!life->end.failure[0])
        snprintf(life->end.failure, sizeof life->end.failure, "%s", text);
}

void container_life_note_error(struct container_life *life, const struct error *err)
{
    AUTO_FREE char *text = error_text(err);

    container_life_note_failure(life, text);
}

/* ---- the way out ---- */

void container_life_discard(struct container_life *life)
{
    const char *name = life->id ? life->id : life->name;

    if (name && life->state != CONTAINER_LIFE_KEPT)
        engine_discard_container(life->engine, name);
    container_life_free(life);
}

void container_life_forget(struct container_life *life)
{
    life->container = NULL;
    ev_clear_pending(engine_loop(life->engine), &life->ending);
    if (life->state == CONTAINER_LIFE_CREATING)
        container_life_set_state(life, CONTAINER_LIFE_UNWANTED);
    if (life->state != CONTAINER_LIFE_UNWANTED)
        container_life_discard(life);
}

static void container_life_on_ending(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct container_life *life = CONTAINER_OF(watcher, struct container_life, ending);
    struct container *container = life->container;
    struct container_end end = life->end;

    (void)loop;
    (void)events;
    container_life_forget(life);
    container->life = NULL;
    container->ended(container, &end);
}

/* The one way out but for cancelling: the owner is told as soon as the callback that runs now has
 * returned. */
static void container_life_announce(struct container_life *life)
{
    if (life->end.started)
        life->end.run_seconds = clock_seconds() - life->started;
    ev_feed_event(engine_loop(life->engine), &life->ending, EV_CUSTOM);
}

void container_life_end(struct container_life *life)
{
    bool stays = life->keep && life->state == CONTAINER_LIFE_DRAINING;

    container_life_set_state(life, stays ? CONTAINER_LIFE_KEPT : CONTAINER_LIFE_OVER);
    container_life_announce(life);
}

void container_life_call_off(struct container_life *life)
{
    container_life_set_state(life, life->state == CONTAINER_LIFE_CREATING ? CONTAINER_LIFE_UNWANTED
                                                                          : CONTAINER_LIFE_OVER);
    container_life_announce(life);
}

void container_life_fail(struct container_life *life, int status, const char *text)
{
    life->end.status = status;
    container_life_note_failure(life, text);
    container_life_end(life);
}

void container_life_fail_with(struct container_life *life, int status, const struct error *err)
{
    AUTO_FREE char *text = error_text(err);

    container_life_fail(life, status, text);
}

static void container_life_give_up(struct engine_duty *duty)
{
    container_life_free(CONTAINER_OF(duty, struct container_life, duty));
}

struct container_life *container_life_new(struct container *container, struct engine *engine,
                                          const struct container_plan *plan)
{
    struct container_life *life = NEW(struct container_life);

    life->container = container;
    life->engine = engine;
    life->duty.give_up = container_life_give_up;
    list_init(&life->duty.link);
    life->name = plan->name ? memory_copy_string(plan->name) : NULL;
    life->keep = plan->keep;
    life->is_told = plan->is_told;
    life->has_input = json_is_true(json_object_get(plan->definition, "OpenStdin"));
    life->start_timeout = plan->start_timeout;
    life->submitted = clock_seconds();
    ev_init(&life->ending, container_life_on_ending);
    return life;
}
