#include "environments/engine/exec.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/engine/engine_request.h"
#include "environments/engine/hijack.h"
#include "environments/engine/init_protocol.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define EXEC_INSPECT_SECONDS 10.0
#define EXEC_PAUSE_SECONDS   0.01 /* the engine may learn of the end later than the output ends */
#define EXEC_LEARN_SECONDS   2.0

enum exec_life_state {
    EXEC_LIFE_CREATING,   /* waiting for the id */
    EXEC_LIFE_STARTING,   /* waiting for the engine to hand over the connection */
    EXEC_LIFE_RUNNING,    /* waiting for the end of the output */
    EXEC_LIFE_INSPECTING, /* waiting for the engine's report on the end */
    EXEC_LIFE_PAUSING,    /* the engine does not know yet: waiting to ask it again */
};

static const struct state exec_life_states[] = {
    [EXEC_LIFE_CREATING] = {"creating", 1 << EXEC_LIFE_STARTING},
    [EXEC_LIFE_STARTING] = {"starting", 1 << EXEC_LIFE_RUNNING},
    [EXEC_LIFE_RUNNING] = {"running", 1 << EXEC_LIFE_INSPECTING},
    [EXEC_LIFE_INSPECTING] = {"inspecting", 1 << EXEC_LIFE_PAUSING},
    [EXEC_LIFE_PAUSING] = {"pausing", 1 << EXEC_LIFE_INSPECTING},
};

struct exec_life {
    enum exec_life_state state;
    struct exec *exec;     /* borrowed */
    struct engine *engine; /* borrowed */
    struct engine_request request;
    struct hijack hijack;
    char *id; /* owned; NULL: not created yet */
    double start_timeout;
    double submitted; /* CLOCK_MONOTONIC seconds */
    double started;
    double ended;
    ev_timer timer; /* of the start, then of a pause */
    struct container_end end;
};

static void exec_life_free(struct exec_life *life)
{
    ev_timer_stop(engine_loop(life->engine), &life->timer);
    engine_request_cancel(&life->request);
    hijack_cancel(&life->hijack);
    free(life->id);
    free(life);
}

static void exec_life_set_timer(struct exec_life *life, double seconds)
{
    struct ev_loop *loop = engine_loop(life->engine);

    ev_timer_stop(loop, &life->timer);
    if (seconds <= 0)
        return;
    ev_now_update(loop);
    ev_timer_set(&life->timer, seconds, 0.);
    ev_timer_start(loop, &life->timer);
}

static void exec_life_set_state(struct exec_life *life, enum exec_life_state state)
{
    state_change(exec_life_states, life->state, state, "exec %s", life->id);
    life->state = state;
    if (state == EXEC_LIFE_RUNNING)
        exec_life_set_timer(life, 0);
    if (state == EXEC_LIFE_PAUSING)
        exec_life_set_timer(life, EXEC_PAUSE_SECONDS);
}

/* The one way out but for cancelling. */
static void exec_life_finish(struct exec_life *life)
{
    struct exec *exec = life->exec;
    struct container_end end = life->end;

    if (end.started)
        end.run_seconds = life->ended - life->started;
    exec_life_free(life);
    exec->life = NULL;
    exec->ended(exec, &end);
}

static void exec_life_fail(struct exec_life *life, int status, const char *text)
{
    life->end.status = status;
    snprintf(life->end.failure, sizeof life->end.failure, "%s", text);
    exec_life_finish(life);
}

static void exec_life_fail_with(struct exec_life *life, int status, const struct error *err)
{
    AUTO_FREE char *text = error_text(err);

    exec_life_fail(life, status, text);
}

/* True when the engine knows, and says, how it ended. */
static bool exec_life_read_end(struct exec_life *life, const json_t *answer)
{
    const json_t *exit_code = json_object_get(answer, "ExitCode");

    if (json_is_true(json_object_get(answer, "Running")) || !json_is_integer(exit_code))
        return false;
    life->end.exit_code = (int)json_integer_value(exit_code);
    return true;
}

static void exec_life_on_inspected(struct engine_request *request,
                                   const struct engine_answer *answer, const struct error *err)
{
    struct exec_life *life = CONTAINER_OF(request, struct exec_life, request);

    if (err)
        exec_life_fail_with(life, answer->status, err);
    else if (exec_life_read_end(life, answer->json))
        exec_life_finish(life);
    else if (clock_seconds() - life->ended > EXEC_LEARN_SECONDS)
        exec_life_fail(life, 0, "the Docker engine did not say how the program ended");
    else
        exec_life_set_state(life, EXEC_LIFE_PAUSING);
}

static void exec_life_inspect(struct exec_life *life)
{
    AUTO_FREE char *path = memory_format("/exec/%s/json", life->id);
    const struct engine_question question = {
        .method = "GET", .path = path, .timeout = EXEC_INSPECT_SECONDS};

    exec_life_set_state(life, EXEC_LIFE_INSPECTING);
    life->request.done = exec_life_on_inspected;
    engine_request_start(&life->request, life->engine, &question);
}

static void exec_life_on_ready(struct hijack *hijack)
{
    struct exec_life *life = CONTAINER_OF(hijack, struct exec_life, hijack);

    exec_life_set_state(life, EXEC_LIFE_RUNNING);
    life->end.started = true;
    life->started = clock_seconds();
    life->end.start_seconds = life->started - life->submitted;
    if (life->exec->agreed)
        life->exec->agreed(life->exec);
}

static void exec_life_on_output(struct hijack *hijack, enum frame_stream stream, const char *data,
                                size_t length)
{
    struct exec_life *life = CONTAINER_OF(hijack, struct exec_life, hijack);

    life->exec->output(life->exec, stream, data, length);
}

static void exec_life_on_output_ended(struct hijack *hijack, int status, const struct error *err)
{
    struct exec_life *life = CONTAINER_OF(hijack, struct exec_life, hijack);

    life->ended = clock_seconds();
    if (err)
        exec_life_fail_with(life, status, err);
    else
        exec_life_inspect(life);
}

static void exec_life_start(struct exec_life *life)
{
    AUTO_FREE char *path = memory_format("/exec/%s/start", life->id);
    AUTO_JSON json_t *body = json_pack("{s:b,s:b}", "Detach", 0, "Tty", 0);
    const struct engine_question question = {.method = "POST", .path = path, .body = body};

    exec_life_set_state(life, EXEC_LIFE_STARTING);
    life->hijack.ready = exec_life_on_ready;
    life->hijack.output = exec_life_on_output;
    life->hijack.ended = exec_life_on_output_ended;
    hijack_start(&life->hijack, life->engine, &question);
}

static void exec_life_on_created(struct engine_request *request, const struct engine_answer *answer,
                                 const struct error *err)
{
    struct exec_life *life = CONTAINER_OF(request, struct exec_life, request);
    const char *id = err ? NULL : json_object_get_string(answer->json, "Id");

    if (err) {
        exec_life_fail_with(life, answer->status, err);
        return;
    }
    if (!id) {
        exec_life_fail(life, answer->status,
                       "the Docker engine did not say what the program is called");
        return;
    }
    life->id = memory_copy_string(id);
    exec_life_start(life);
}

static void exec_life_create(struct exec_life *life, const struct exec_plan *plan)
{
    AUTO_FREE char *path = memory_format("/containers/%s/exec", plan->container);
    const struct engine_question question = {
        .method = "POST", .path = path, .body = plan->definition};

    life->request.done = exec_life_on_created;
    engine_request_start(&life->request, life->engine, &question);
}

static void exec_life_miss_start(struct exec_life *life)
{
    char text[ERROR_MESSAGE_BYTES];

    snprintf(text, sizeof text, "the program did not start within %g seconds", life->start_timeout);
    exec_life_fail(life, 0, text);
}

static void exec_life_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct exec_life *life = CONTAINER_OF(timer, struct exec_life, timer);

    (void)loop;
    (void)events;
    if (life->state == EXEC_LIFE_PAUSING)
        exec_life_inspect(life);
    else
        exec_life_miss_start(life);
}

void exec_start(struct exec *exec, struct engine *engine, const struct exec_plan *plan)
{
    struct exec_life *life = NEW(struct exec_life);

    assert(exec->output && exec->ended && !exec->life);
    exec->life = life;
    life->exec = exec;
    life->engine = engine;
    life->start_timeout = plan->start_timeout;
    life->submitted = clock_seconds();
    ev_init(&life->timer, exec_life_on_timer);
    exec_life_set_timer(life, plan->start_timeout);
    exec_life_create(life, plan);
}

static bool exec_listens(const struct exec_life *life)
{
    return life && life->state == EXEC_LIFE_RUNNING && hijack_is_open(&life->hijack);
}

int exec_send(struct exec *exec, const char *data, size_t length, struct error *err)
{
    return exec_listens(exec->life) ? hijack_send(&exec->life->hijack, data, length, err) : 0;
}

void exec_dismiss(struct exec *exec)
{
    struct error ignored = ERROR_INIT; /* then it ends after a while */

    (void)exec_send(exec, init_dismissal, WIRE_HEAD_BYTES, &ignored);
}

void exec_move(struct exec *from, struct exec *to)
{
    assert(from->life && !to->life && to->output && to->ended);
    to->life = from->life;
    to->life->exec = to;
    from->life = NULL;
}

void exec_cancel(struct exec *exec)
{
    if (!exec->life)
        return;
    exec_life_free(exec->life);
    exec->life = NULL;
}
