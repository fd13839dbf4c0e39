#include "environments/engine/container.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/engine/discard.h"
#include "environments/engine/engine_request.h"
#include "environments/engine/hijack.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_INSPECT_SECONDS 10.0

enum {
    STATUS_NOT_FOUND = 404,
    STATUS_CONFLICT = 409,
};

enum life_state {
    LIFE_CREATING,   /* waiting for the id */
    LIFE_ATTACHING,  /* waiting for the engine to hand over the connection */
    LIFE_STARTING,   /* waiting for the program to run */
    LIFE_RUNNING,    /* waiting for its end */
    LIFE_INSPECTING, /* waiting for what the engine knows of the end */
    LIFE_DRAINING,   /* waiting for the end of the output */
};

struct container_life {
    enum life_state state;
    struct container *container; /* borrowed; NULL: forgotten, and a duty of the engine's */
    struct engine *engine;       /* borrowed */
    struct engine_duty duty;
    struct engine_request request; /* the step under way */
    struct engine_request killing;
    struct hijack hijack;
    char *name; /* owned; or NULL */
    char *id;   /* owned; NULL: not created yet */
    bool keep;
    bool has_lifeline;
    bool is_told;   /* SIGTERM comes first */
    bool has_mercy; /* it has come, the kill not yet */
    double start_timeout;
    double submitted; /* CLOCK_MONOTONIC seconds */
    double started;   /* likewise */
    ev_timer bound;   /* of the step under way */
    struct container_end end;
};

static void container_life_free(struct container_life *life)
{
    list_remove(&life->duty.link);
    ev_timer_stop(engine_loop(life->engine), &life->bound);
    engine_request_cancel(&life->request);
    engine_request_cancel(&life->killing);
    hijack_cancel(&life->hijack);
    free(life->name);
    free(life->id);
    free(life);
}

static void container_set_bound(struct container_life *life, double seconds)
{
    struct ev_loop *loop = engine_loop(life->engine);

    ev_timer_stop(loop, &life->bound);
    if (seconds <= 0)
        return;
    ev_now_update(loop);
    ev_timer_set(&life->bound, seconds, 0.);
    ev_timer_start(loop, &life->bound);
}

static void note_failure(struct container_life *life, const char *text)
{
    if (!life->end.failure[0])
        snprintf(life->end.failure, sizeof life->end.failure, "%s", text);
}

/* Nobody is told any more. Before the engine has said what it is called, the answer is waited for:
 * only then it can be removed. */
static void container_forget(struct container_life *life)
{
    life->container = NULL;
    if (life->state != LIFE_CREATING) {
        engine_discard_container(life->engine, life->id);
        container_life_free(life);
        return;
    }
    engine_add_duty(life->engine, &life->duty);
    container_set_bound(life, ENGINE_CLEAN_UP_SECONDS);
}

/* The one way out but for cancelling. */
static void container_finish(struct container_life *life)
{
    struct container *container = life->container;
    struct container_end end = life->end;

    if (end.started)
        end.run_seconds = clock_seconds() - life->started;
    if (life->keep && life->state == LIFE_DRAINING)
        container_life_free(life);
    else
        container_forget(life);
    container->life = NULL;
    container->ended(container, &end);
}

/* The step under way has failed. */
static void container_fail(struct container_life *life, int status, const char *text)
{
    life->end.status = status;
    note_failure(life, text);
    container_finish(life);
}

/* ---- killing ---- */

static void container_on_killed(struct engine_request *request, const struct engine_answer *answer,
                                const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, killing);

    /* It may have ended by itself. Anything else is met when the kill has taken too long. */
    if (err && answer->status != STATUS_CONFLICT && answer->status != STATUS_NOT_FOUND)
        note_failure(life, err->message);
}

static void send_signal(struct container_life *life, const char *name)
{
    AUTO_FREE char *path = memory_format("/containers/%s/kill?signal=%s", life->id, name);
    const struct engine_question question = {.method = "POST", .path = path};

    engine_request_cancel(&life->killing);
    engine_request_start(&life->killing, life->engine, &question);
}

/* At first it is told, where that is wanted: called again when it has not ended by then. */
static void send_kill(struct container_life *life)
{
    if (life->is_told) {
        life->is_told = false;
        life->has_mercy = true;
        container_set_bound(life, CONTAINER_MERCY_SECONDS);
        send_signal(life, "SIGTERM");
        return;
    }
    life->has_mercy = false;
    container_set_bound(life, CONTAINER_KILL_SECONDS);
    send_signal(life, "SIGKILL");
}

/* ---- the end ---- */

static void container_drain(struct container_life *life)
{
    life->state = LIFE_DRAINING;
    if (life->hijack.engine && life->container->output)
        container_set_bound(life, CONTAINER_DRAIN_SECONDS);
    else
        container_finish(life);
}

static void read_state(struct container_life *life, const json_t *answer)
{
    const json_t *state = json_object_get(answer, "State");
    const json_t *exit_code = json_object_get(state, "ExitCode");
    const char *error = json_object_get_string(state, "Error");

    life->end.out_of_memory = json_is_true(json_object_get(state, "OOMKilled"));
    if (json_is_integer(exit_code))
        life->end.exit_code = (int)json_integer_value(exit_code);
    if (error && error[0])
        note_failure(life, error);
}

static void container_on_inspected(struct engine_request *request,
                                   const struct engine_answer *answer, const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, request);

    if (!err)
        read_state(life, answer->json);
    else if (answer->status != STATUS_NOT_FOUND) /* removed by others: the exit code is known */
        note_failure(life, err->message);
    container_drain(life);
}

static void container_inspect(struct container_life *life)
{
    AUTO_FREE char *path = memory_format("/containers/%s/json", life->id);
    const struct engine_question question = {
        .method = "GET", .path = path, .timeout = CONTAINER_INSPECT_SECONDS};

    life->state = LIFE_INSPECTING;
    container_set_bound(life, 0);
    life->request.done = container_on_inspected;
    engine_request_start(&life->request, life->engine, &question);
}

static void container_on_exited(struct engine_request *request, const struct engine_answer *answer,
                                const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, request);
    const json_t *exit_code = json_object_get(answer->json, "StatusCode");

    if (err) {
        container_fail(life, answer->status, err->message);
    } else if (!json_is_integer(exit_code)) {
        container_fail(life, answer->status,
                       "the Docker engine did not say how the container ended");
    } else {
        life->end.exit_code = (int)json_integer_value(exit_code);
        container_inspect(life);
    }
}

/* Podman looks every quarter of a second: its answer comes so much later. */
static void container_wait_for_end(struct container_life *life)
{
    AUTO_FREE char *path = memory_format("/containers/%s/wait?condition=not-running", life->id);
    const struct engine_question question = {.method = "POST", .path = path};

    life->state = LIFE_RUNNING;
    life->request.done = container_on_exited;
    engine_request_start(&life->request, life->engine, &question);
}

/* ---- the start ---- */

static void container_on_started(struct engine_request *request, const struct engine_answer *answer,
                                 const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, request);

    if (err) {
        container_fail(life, answer->status, err->message);
        return;
    }
    life->end.started = true;
    life->started = clock_seconds();
    life->end.start_seconds = life->started - life->submitted;
    container_wait_for_end(life);
    if (life->end.killed || life->end.failure[0])
        send_kill(life);
    else
        container_set_bound(life, 0);
    if (life->container->started)
        life->container->started(life->container);
}

static void container_life_start(struct container_life *life)
{
    AUTO_FREE char *path = memory_format("/containers/%s/start", life->id);
    const struct engine_question question = {.method = "POST", .path = path};

    if (life->end.killed) {
        container_finish(life);
        return;
    }
    life->state = LIFE_STARTING;
    life->request.done = container_on_started;
    engine_request_start(&life->request, life->engine, &question);
}

static void container_on_attached(struct hijack *hijack)
{
    struct container_life *life = CONTAINER_OF(hijack, struct container_life, hijack);

    /* Not `start`: it may finish, which the hijack does not survive. */
    if (life->end.killed)
        container_set_bound(life, 1e-3);
    else
        container_life_start(life);
}

static void container_on_output(struct hijack *hijack, enum frame_stream stream, const char *data,
                                size_t length)
{
    struct container_life *life = CONTAINER_OF(hijack, struct container_life, hijack);

    if (life->container->output)
        life->container->output(life->container, stream, data, length);
}

/* Output that broke off is the end of the container: it is killed, and the reason is told. When the
 * engine itself is gone, the request that waits says so in the same turn of the loop. */
static void container_on_output_lost(struct container_life *life, const struct error *err)
{
    note_failure(life, err->message);
    if (life->state == LIFE_DRAINING) {
        container_finish(life);
        return;
    }
    if (life->state == LIFE_RUNNING)
        send_kill(life);
    else
        container_set_bound(life, CONTAINER_KILL_SECONDS);
}

static void container_on_output_ended(struct hijack *hijack, int status, const struct error *err)
{
    struct container_life *life = CONTAINER_OF(hijack, struct container_life, hijack);

    if (life->state == LIFE_ATTACHING && err)
        container_fail(life, status, err->message);
    else if (err)
        container_on_output_lost(life, err);
    else if (life->state == LIFE_DRAINING)
        container_finish(life);
}

static void container_attach(struct container_life *life)
{
    const char *streams = life->container->output ? "stdout=1&stderr=1" : "stdin=1";
    AUTO_FREE char *path = memory_format("/containers/%s/attach?stream=1&%s", life->id, streams);
    const struct engine_question question = {.method = "POST", .path = path};

    life->state = LIFE_ATTACHING;
    life->hijack.ready = container_on_attached;
    life->hijack.output = container_on_output;
    life->hijack.ended = container_on_output_ended;
    hijack_start(&life->hijack, life->engine, &question);
}

/* ---- the creation ---- */

/* It may have been created although no answer came. */
static void container_on_not_created(struct container_life *life, int status, const char *text)
{
    if (status == 0 && life->name)
        engine_discard_container(life->engine, life->name);
    if (life->container) {
        struct container *container = life->container;
        struct container_end end = life->end;

        end.status = status;
        if (!end.failure[0])
            snprintf(end.failure, sizeof end.failure, "%s", text);
        container_life_free(life);
        container->life = NULL;
        container->ended(container, &end);
    } else {
        container_life_free(life);
    }
}

static void container_on_created(struct engine_request *request, const struct engine_answer *answer,
                                 const struct error *err)
{
    struct container_life *life = CONTAINER_OF(request, struct container_life, request);
    const char *id = err ? NULL : json_object_get_string(answer->json, "Id");

    if (!id) {
        container_on_not_created(
            life, answer->status,
            err ? err->message : "the Docker engine did not say what the container is called");
        return;
    }
    life->id = memory_copy_string(id);
    life->state = LIFE_ATTACHING;
    if (!life->container)
        container_forget(life);
    else if ((life->container->output || life->has_lifeline) && !life->end.killed)
        container_attach(life);
    else
        container_life_start(life);
}

static void container_create(struct container_life *life, const struct container_plan *plan)
{
    AUTO_FREE char *name = engine_escape(plan->name ? plan->name : "");
    AUTO_FREE char *platform = engine_escape(plan->platform ? plan->platform : "");
    AUTO_FREE char *path = memory_format("/containers/create?%s%s%s%s", plan->name ? "name=" : "",
                                         name, plan->platform ? "&platform=" : "", platform);
    const struct engine_question question = {
        .method = "POST", .path = path, .body = plan->definition};

    life->state = LIFE_CREATING;
    life->request.done = container_on_created;
    engine_request_start(&life->request, life->engine, &question);
}

/* A step has taken too long, or there is nothing to wait for. */
static void container_on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct container_life *life = CONTAINER_OF(timer, struct container_life, bound);
    bool hurried = life->end.killed || life->end.failure[0];
    char text[ERROR_MESSAGE_BYTES];

    (void)loop;
    (void)events;
    if (!life->container) {
        if (life->name)
            engine_discard_container(life->engine, life->name);
        container_life_free(life);
        return;
    }
    if (life->has_mercy && life->state == LIFE_RUNNING) {
        send_kill(life);
        return;
    }
    if (life->end.started && life->state != LIFE_DRAINING)
        note_failure(life, "the Docker engine did not end the container");
    if (!life->end.started && !hurried) {
        snprintf(text, sizeof text, "the container did not start within %g seconds",
                 life->start_timeout);
        note_failure(life, text);
    }
    container_finish(life);
}

static void container_give_up(struct engine_duty *duty)
{
    container_life_free(CONTAINER_OF(duty, struct container_life, duty));
}

void container_start(struct container *container, struct engine *engine,
                     const struct container_plan *plan)
{
    struct container_life *life = NEW(struct container_life);

    assert(container->ended && !container->life);
    container->life = life;
    life->container = container;
    life->engine = engine;
    life->duty.give_up = container_give_up;
    list_init(&life->duty.link);
    life->killing.done = container_on_killed;
    life->name = plan->name ? memory_copy_string(plan->name) : NULL;
    life->is_told = plan->is_told;
    life->keep = plan->keep;
    life->has_lifeline = json_is_true(json_object_get(plan->definition, "OpenStdin"));
    life->start_timeout = plan->start_timeout;
    life->submitted = clock_seconds();
    ev_init(&life->bound, container_on_bound);
    container_set_bound(life, plan->start_timeout);
    container_create(life, plan);
}

void container_kill(struct container *container)
{
    struct container_life *life = container->life;

    if (!life || life->end.killed || life->state > LIFE_RUNNING)
        return;
    life->end.killed = true;
    if (life->state == LIFE_RUNNING)
        send_kill(life);
    else
        container_set_bound(life, CONTAINER_KILL_SECONDS);
}

void container_cancel(struct container *container)
{
    if (!container->life)
        return;
    container_forget(container->life);
    container->life = NULL;
}

const char *container_id(const struct container *container)
{
    return container->life ? container->life->id : NULL;
}
