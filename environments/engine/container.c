#include "environments/engine/container.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/engine/container_life_private.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_INSPECT_SECONDS 10.0

enum {
    STATUS_NOT_FOUND = 404,
    STATUS_CONFLICT = 409,
};

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

void container_send_last(struct container *container, const char *data, size_t length)
{
    struct container_life *life = container->life;

    if (container_listens(life))
        hijack_send_last(&life->hijack, data, length);
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
