#include "environments/engine/container.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/state.h"
#include "base/text.h"
#include "environments/engine/discard.h"
#include "environments/engine/engine_request.h"
#include "environments/engine/hijack.h"
#include "environments/engine/init_protocol.h"

#include <assert.h>
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_INSPECT_SECONDS 10.0

enum {
    STATUS_NOT_FOUND = 404,
    STATUS_CONFLICT = 409,
};

/* The life of a container.
 *
 *     CREATING -> ATTACHING -> STARTING -> RUNNING -> INSPECTING -> DRAINING -> OVER or KEPT
 *         \                       \           \           ^
 *          `-> UNWANTED            `-> REVOKING `-> TELLING -> KILLING
 *
 * A container without output and lifeline skips ATTACHING; a container that ends by itself skips
 * TELLING and KILLING. A step that fails leads to OVER. */
enum container_life_state {
    CONTAINER_LIFE_CREATING,   /* waiting for the id */
    CONTAINER_LIFE_ATTACHING,  /* waiting for the engine to hand over the connection */
    CONTAINER_LIFE_STARTING,   /* waiting for the program to run */
    CONTAINER_LIFE_REVOKING,   /* waiting for the program to run, to kill it then */
    CONTAINER_LIFE_RUNNING,    /* waiting for the program's end */
    CONTAINER_LIFE_TELLING,    /* waiting for its end after SIGTERM */
    CONTAINER_LIFE_KILLING,    /* waiting for its end after SIGKILL */
    CONTAINER_LIFE_INSPECTING, /* waiting for the engine's report on the end */
    CONTAINER_LIFE_DRAINING,   /* waiting for the end of the output */
    CONTAINER_LIFE_UNWANTED,   /* waiting for the id, to remove it */
    CONTAINER_LIFE_OVER,       /* waiting for its owner to be told; it is removed then */
    CONTAINER_LIFE_KEPT,       /* waiting for its owner to be told; it stays then */
};

struct container_life {
    enum container_life_state state;
    struct container *container; /* borrowed; NULL: nobody is told any more */
    struct engine *engine;       /* borrowed */
    struct engine_duty duty;
    struct engine_request request; /* the step under way */
    struct engine_request signal;
    struct hijack hijack;
    char *name;     /* owned; NULL: the engine chooses one, or nothing was created */
    char *id;       /* owned; NULL: not created yet */
    bool keep;      /* the plan wants it */
    bool is_told;   /* SIGTERM comes before the kill */
    bool has_input; /* its standard input is open, as lifeline or for data */
    double start_timeout;
    double submitted;  /* CLOCK_MONOTONIC seconds */
    double started;    /* likewise */
    ev_timer bound;    /* of the state */
    ev_prepare ending; /* fed, never started: tells the owner outside of every callback */
    struct container_end end;
};

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

/* Sets the bound of the state; 0: there is none. */
static void container_life_set_bound(struct container_life *life, double seconds)
{
    struct ev_loop *loop = engine_loop(life->engine);

    ev_timer_stop(loop, &life->bound);
    if (seconds <= 0)
        return;
    ev_now_update(loop);
    ev_timer_set(&life->bound, seconds, 0.);
    ev_timer_start(loop, &life->bound);
}

static void container_life_set_state(struct container_life *life, enum container_life_state state)
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

/* Only the first failure is kept, for the owner. */
static void container_life_note_failure(struct container_life *life, const char *text)
{
    if (!life->end.failure[0])
        snprintf(life->end.failure, sizeof life->end.failure, "%s", text);
}

static void container_life_note_error(struct container_life *life, const struct error *err)
{
    AUTO_FREE char *text = error_text(err);

    container_life_note_failure(life, text);
}

/* ---- the way out ---- */

/* Frees it. Removes the container if it was created, or may have been, unless it is KEPT. */
static void container_life_discard(struct container_life *life)
{
    const char *name = life->id ? life->id : life->name;

    if (name && life->state != CONTAINER_LIFE_KEPT)
        engine_discard_container(life->engine, name);
    container_life_free(life);
}

/* Its owner is not told any more. */
static void container_life_forget(struct container_life *life)
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

/* A container that fails is removed even if it should be kept. */
static void container_life_end(struct container_life *life)
{
    bool stays = life->keep && life->state == CONTAINER_LIFE_DRAINING;

    container_life_set_state(life, stays ? CONTAINER_LIFE_KEPT : CONTAINER_LIFE_OVER);
    container_life_announce(life);
}

/* Ends it before its program runs. The engine may still create the container. */
static void container_life_call_off(struct container_life *life)
{
    container_life_set_state(life, life->state == CONTAINER_LIFE_CREATING ? CONTAINER_LIFE_UNWANTED
                                                                          : CONTAINER_LIFE_OVER);
    container_life_announce(life);
}

/* Ends it after a step that has failed. */
static void container_life_fail(struct container_life *life, int status, const char *text)
{
    life->end.status = status;
    container_life_note_failure(life, text);
    container_life_end(life);
}

static void container_life_fail_with(struct container_life *life, int status,
                                     const struct error *err)
{
    AUTO_FREE char *text = error_text(err);

    container_life_fail(life, status, text);
}

static void container_life_give_up(struct engine_duty *duty)
{
    container_life_free(CONTAINER_OF(duty, struct container_life, duty));
}

/* A life in the state CREATING. Sets all but the callbacks of `signal` and `bound`. */
static struct container_life *container_life_new(struct container *container, struct engine *engine,
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

/* ---- signals ---- */

static void container_life_on_signalled(struct engine_request *request,
                                        const struct engine_answer *answer, const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, signal);

    if (life->state == CONTAINER_LIFE_RUNNING) /* it was only interrupted */
        return;
    /* It may have ended by itself. Anything else is met when the kill has taken too long. */
    if (err && answer->status != STATUS_CONFLICT && answer->status != STATUS_NOT_FOUND)
        container_life_note_error(life, err);
}

static void container_life_send_signal(struct container_life *life, const char *name)
{
    AUTO_FREE char *path = memory_format("/containers/%s/kill?signal=%s", life->id, name);
    const struct engine_question question = {.method = "POST", .path = path};

    engine_request_cancel(&life->signal);
    engine_request_start(&life->signal, life->engine, &question);
}

static void container_life_kill(struct container_life *life)
{
    container_life_set_state(life, CONTAINER_LIFE_KILLING);
    container_life_send_signal(life, "SIGKILL");
}

static void container_life_tell(struct container_life *life)
{
    container_life_set_state(life, CONTAINER_LIFE_TELLING);
    container_life_send_signal(life, "SIGTERM");
}

/* Ends what runs. */
static void container_life_break_off(struct container_life *life)
{
    if (life->is_told)
        container_life_tell(life);
    else
        container_life_kill(life);
}

/* ---- the end ---- */

static void container_life_drain(struct container_life *life)
{
    container_life_set_state(life, CONTAINER_LIFE_DRAINING);
    if (!hijack_is_open(&life->hijack) || !life->container->output)
        container_life_end(life);
}

static void container_life_read_end(struct container_life *life, const json_t *answer)
{
    const json_t *state = json_object_get(answer, "State");
    const json_t *exit_code = json_object_get(state, "ExitCode");
    const char *error = json_object_get_string(state, "Error");

    life->end.out_of_memory = json_is_true(json_object_get(state, "OOMKilled"));
    if (json_is_integer(exit_code))
        life->end.exit_code = (int)json_integer_value(exit_code);
    if (error && error[0])
        container_life_note_failure(life, error);
}

static void container_life_on_inspected(struct engine_request *request,
                                        const struct engine_answer *answer, const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, request);

    if (!err)
        container_life_read_end(life, answer->json);
    else if (answer->status != STATUS_NOT_FOUND) /* removed by others: the exit code is known */
        container_life_note_error(life, err);
    container_life_drain(life);
}

static void container_life_inspect(struct container_life *life)
{
    AUTO_FREE char *path = memory_format("/containers/%s/json", life->id);
    const struct engine_question question = {
        .method = "GET", .path = path, .timeout = CONTAINER_INSPECT_SECONDS};

    container_life_set_state(life, CONTAINER_LIFE_INSPECTING);
    life->request.done = container_life_on_inspected;
    engine_request_start(&life->request, life->engine, &question);
}

static void container_life_on_exited(struct engine_request *request,
                                     const struct engine_answer *answer, const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, request);
    const json_t *exit_code = json_object_get(answer->json, "StatusCode");

    if (err) {
        container_life_fail_with(life, answer->status, err);
    } else if (!json_is_integer(exit_code)) {
        container_life_fail(life, answer->status,
                            "the Docker engine did not say how the container ended");
    } else {
        life->end.exit_code = (int)json_integer_value(exit_code);
        container_life_inspect(life);
    }
}

/* Podman looks every quarter of a second: its answer comes so much later. */
static void container_life_wait(struct container_life *life)
{
    AUTO_FREE char *path = memory_format("/containers/%s/wait?condition=not-running", life->id);
    const struct engine_question question = {.method = "POST", .path = path};

    life->request.done = container_life_on_exited;
    engine_request_start(&life->request, life->engine, &question);
}

/* ---- the start ---- */

static void container_life_note_start(struct container_life *life)
{
    life->end.started = true;
    life->started = clock_seconds();
    life->end.start_seconds = life->started - life->submitted;
}

static void container_life_on_started(struct engine_request *request,
                                      const struct engine_answer *answer, const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, request);

    if (err) {
        container_life_fail_with(life, answer->status, err);
        return;
    }
    container_life_note_start(life);
    container_life_wait(life);
    if (life->state == CONTAINER_LIFE_REVOKING)
        container_life_break_off(life);
    else
        container_life_set_state(life, CONTAINER_LIFE_RUNNING);
    if (life->container->started)
        life->container->started(life->container);
}

static void container_life_start(struct container_life *life)
{
    AUTO_FREE char *path = memory_format("/containers/%s/start", life->id);
    const struct engine_question question = {.method = "POST", .path = path};

    container_life_set_state(life, CONTAINER_LIFE_STARTING);
    life->request.done = container_life_on_started;
    engine_request_start(&life->request, life->engine, &question);
}

static void container_life_on_attached(struct hijack *hijack)
{
    container_life_start(CONTAINER_OF(hijack, struct container_life, hijack));
}

static void container_life_on_output(struct hijack *hijack, enum frame_stream stream,
                                     const char *data, size_t length)
{
    struct container_life *life = CONTAINER_OF(hijack, struct container_life, hijack);

    if (life->container->output)
        life->container->output(life->container, stream, data, length);
}

/* A container whose output has broken off is killed, and the reason is told. When the engine itself
 * is gone, the request that waits says so in the same turn of the loop. */
static void container_life_lose_output(struct container_life *life, const struct error *err)
{
    container_life_note_error(life, err);
    if (life->state == CONTAINER_LIFE_STARTING)
        container_life_set_state(life, CONTAINER_LIFE_REVOKING);
    else if (life->state == CONTAINER_LIFE_RUNNING)
        container_life_break_off(life);
    else if (life->state == CONTAINER_LIFE_TELLING)
        container_life_kill(life);
    else if (life->state == CONTAINER_LIFE_DRAINING)
        container_life_end(life);
}

static void container_life_on_output_ended(struct hijack *hijack, int status,
                                           const struct error *err)
{
    struct container_life *life = CONTAINER_OF(hijack, struct container_life, hijack);

    if (life->state == CONTAINER_LIFE_ATTACHING)
        container_life_fail_with(life, status, err);
    else if (err)
        container_life_lose_output(life, err);
    else if (life->state == CONTAINER_LIFE_DRAINING)
        container_life_end(life);
}

static void container_life_attach(struct container_life *life)
{
    AUTO_FREE char *path = memory_format("/containers/%s/attach?stream=1%s%s", life->id,
                                         life->has_input ? "&stdin=1" : "",
                                         life->container->output ? "&stdout=1&stderr=1" : "");
    const struct engine_question question = {.method = "POST", .path = path};

    container_life_set_state(life, CONTAINER_LIFE_ATTACHING);
    life->hijack.ready = container_life_on_attached;
    life->hijack.output = container_life_on_output;
    life->hijack.ended = container_life_on_output_ended;
    hijack_start(&life->hijack, life->engine, &question);
}

/* ---- the creation ---- */

/* An answer that refuses it: nothing was created. Without an answer it may have been. */
static void container_life_note_refusal(struct container_life *life, int status)
{
    if (status == 0)
        return;
    free(life->name);
    life->name = NULL;
}

/* The engine has answered the creation of an UNWANTED container. */
static void container_life_clear_away(struct container_life *life)
{
    container_life_set_state(life, CONTAINER_LIFE_OVER);
    if (!life->container)
        container_life_discard(life);
}

static void container_life_on_created(struct engine_request *request,
                                      const struct engine_answer *answer, const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, request);
    const char *id = err ? NULL : json_object_get_string(answer->json, "Id");

    if (id)
        life->id = memory_copy_string(id);
    else
        container_life_note_refusal(life, answer->status);
    if (life->state == CONTAINER_LIFE_UNWANTED)
        container_life_clear_away(life);
    else if (err)
        container_life_fail_with(life, answer->status, err);
    else if (!id)
        container_life_fail(life, answer->status,
                            "the Docker engine did not say what the container is called");
    else if (life->has_input || life->container->output)
        container_life_attach(life);
    else
        container_life_start(life);
}

static void container_life_create(struct container_life *life, const struct container_plan *plan)
{
    AUTO_FREE char *name = engine_escape(text_or_none(plan->name));
    AUTO_FREE char *platform = engine_escape(text_or_none(plan->platform));
    AUTO_FREE char *path = memory_format("/containers/create?%s%s%s%s", plan->name ? "name=" : "",
                                         name, plan->platform ? "&platform=" : "", platform);
    const struct engine_question question = {
        .method = "POST", .path = path, .body = plan->definition};

    life->request.done = container_life_on_created;
    engine_request_start(&life->request, life->engine, &question);
}

/* ---- the bounds ---- */

static void container_life_miss_start(struct container_life *life)
{
    char text[ERROR_MESSAGE_BYTES];

    snprintf(text, sizeof text, "the container did not start within %g seconds",
             life->start_timeout);
    container_life_note_failure(life, text);
    container_life_call_off(life);
}

static void container_life_on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct container_life *life = CONTAINER_OF(timer, struct container_life, bound);

    (void)loop;
    (void)events;
    switch (life->state) {
    case CONTAINER_LIFE_CREATING:
    case CONTAINER_LIFE_ATTACHING:
    case CONTAINER_LIFE_STARTING:
        container_life_miss_start(life);
        break;
    case CONTAINER_LIFE_TELLING:
        container_life_kill(life);
        break;
    case CONTAINER_LIFE_KILLING:
        container_life_fail(life, 0, "the Docker engine did not end the container");
        break;
    case CONTAINER_LIFE_REVOKING:
    case CONTAINER_LIFE_DRAINING:
        life->end.is_cut = true;
        container_life_end(life);
        break;
    case CONTAINER_LIFE_UNWANTED:
        container_life_discard(life);
        break;
    case CONTAINER_LIFE_RUNNING:
    case CONTAINER_LIFE_INSPECTING:
    case CONTAINER_LIFE_OVER:
    case CONTAINER_LIFE_KEPT:
        assert(false); /* has no bound */
    }
}

/* ---- the container ---- */

void container_start(struct container *container, struct engine *engine,
                     const struct container_plan *plan)
{
    struct container_life *life;

    assert(container->ended && !container->life);
    life = container_life_new(container, engine, plan);
    container->life = life;
    life->signal.done = container_life_on_signalled;
    ev_init(&life->bound, container_life_on_bound);
    container_life_set_bound(life, plan->start_timeout);
    container_life_create(life, plan);
}

void container_interrupt(struct container *container)
{
    struct container_life *life = container->life;

    if (life && life->state == CONTAINER_LIFE_RUNNING)
        container_life_send_signal(life, "SIGINT");
}

/* Whether its first program runs, and can be told something. */
static bool container_listens(const struct container_life *life)
{
    return life && hijack_is_open(&life->hijack) &&
           (life->state == CONTAINER_LIFE_RUNNING || life->state == CONTAINER_LIFE_TELLING);
}

int container_send(struct container *container, const char *data, size_t length, struct error *err)
{
    struct container_life *life = container->life;

    if (!container_listens(life))
        return 0;
    return hijack_send(&life->hijack, data, length, err);
}

void container_dismiss(struct container *container)
{
    struct error ignored = ERROR_INIT; /* then it ends after a while */

    if (container->life && container->life->has_input)
        (void)container_send(container, init_dismissal, WIRE_HEAD_BYTES, &ignored);
}

void container_move(struct container *from, struct container *to)
{
    assert(from->life && !to->life && to->ended && !from->output == !to->output);
    to->life = from->life;
    to->life->container = to;
    from->life = NULL;
}

void container_kill(struct container *container)
{
    struct container_life *life = container->life;

    if (!life || life->end.killed || life->state > CONTAINER_LIFE_KILLING)
        return;
    life->end.killed = true;
    if (life->state < CONTAINER_LIFE_STARTING)
        container_life_call_off(life);
    else if (life->state == CONTAINER_LIFE_STARTING)
        container_life_set_state(life, CONTAINER_LIFE_REVOKING);
    else if (life->state == CONTAINER_LIFE_RUNNING)
        container_life_break_off(life);
}

void container_cancel(struct container *container)
{
    if (!container->life)
        return;
    container_life_forget(container->life);
    container->life = NULL;
}

const char *container_id(const struct container *container)
{
    return container->life ? container->life->id : NULL;
}
