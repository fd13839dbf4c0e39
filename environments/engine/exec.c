#include "environments/engine/exec.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/engine/engine_request.h"
#include "environments/engine/hijack.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define EXEC_INSPECT_SECONDS 10.0
#define EXEC_AGAIN_SECONDS   0.01 /* the engine may learn of the end behind that of the output */
#define LEARN_SECONDS        2.0

struct exec_life {
    struct exec *exec;     /* borrowed */
    struct engine *engine; /* borrowed */
    struct engine_request request;
    struct hijack hijack;
    char *id; /* owned; NULL: not created yet */
    double start_timeout;
    double submitted; /* CLOCK_MONOTONIC seconds */
    double started;
    double ended;
    ev_timer bound; /* of the start */
    ev_timer again; /* of asking how it ended */
    struct container_end end;
};

static void exec_life_free(struct exec_life *life)
{
    ev_timer_stop(engine_loop(life->engine), &life->bound);
    ev_timer_stop(engine_loop(life->engine), &life->again);
    engine_request_cancel(&life->request);
    hijack_cancel(&life->hijack);
    free(life->id);
    free(life);
}

/* The one way out but for cancelling. */
static void exec_finish(struct exec_life *life)
{
    struct exec *exec = life->exec;
    struct container_end end = life->end;

    if (end.started)
        end.run_seconds = life->ended - life->started;
    exec_life_free(life);
    exec->life = NULL;
    exec->ended(exec, &end);
}

static void exec_fail(struct exec_life *life, int status, const char *text)
{
    life->end.status = status;
    snprintf(life->end.failure, sizeof life->end.failure, "%s", text);
    exec_finish(life);
}

/* True when the engine knows, and says, how it ended. */
static bool read_end(struct exec_life *life, const json_t *answer)
{
    const json_t *exit_code = json_object_get(answer, "ExitCode");

    if (json_is_true(json_object_get(answer, "Running")) || !json_is_integer(exit_code))
        return false;
    life->end.exit_code = (int)json_integer_value(exit_code);
    return true;
}

static void exec_on_inspected(struct engine_request *request, const struct engine_answer *answer,
                              const struct error *err)
{
    struct exec_life *life = CONTAINER_OF(request, struct exec_life, request);

    if (err)
        exec_fail(life, answer->status, err->message);
    else if (read_end(life, answer->json))
        exec_finish(life);
    else if (clock_seconds() - life->ended > LEARN_SECONDS)
        exec_fail(life, 0, "the Docker engine did not say how the program ended");
    else
        ev_timer_again(engine_loop(life->engine), &life->again);
}

static void exec_inspect(struct exec_life *life)
{
    AUTO_FREE char *path = memory_format("/exec/%s/json", life->id);
    const struct engine_question question = {
        .method = "GET", .path = path, .timeout = EXEC_INSPECT_SECONDS};

    life->request.done = exec_on_inspected;
    engine_request_start(&life->request, life->engine, &question);
}

static void exec_on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    ev_timer_stop(loop, timer);
    exec_inspect(CONTAINER_OF(timer, struct exec_life, again));
}

static void exec_on_ready(struct hijack *hijack)
{
    struct exec_life *life = CONTAINER_OF(hijack, struct exec_life, hijack);

    ev_timer_stop(engine_loop(life->engine), &life->bound);
    life->end.started = true;
    life->started = clock_seconds();
    life->end.start_seconds = life->started - life->submitted;
}

static void exec_on_output(struct hijack *hijack, enum frame_stream stream, const char *data,
                           size_t length)
{
    struct exec_life *life = CONTAINER_OF(hijack, struct exec_life, hijack);

    life->exec->output(life->exec, stream, data, length);
}

static void exec_on_output_ended(struct hijack *hijack, int status, const struct error *err)
{
    struct exec_life *life = CONTAINER_OF(hijack, struct exec_life, hijack);

    life->ended = clock_seconds();
    if (err)
        exec_fail(life, status, err->message);
    else
        exec_inspect(life);
}

static void exec_life_start(struct exec_life *life)
{
    AUTO_FREE char *path = memory_format("/exec/%s/start", life->id);
    AUTO_JSON json_t *body = json_pack("{s:b,s:b}", "Detach", 0, "Tty", 0);
    const struct engine_question question = {.method = "POST", .path = path, .body = body};

    life->hijack.ready = exec_on_ready;
    life->hijack.output = exec_on_output;
    life->hijack.ended = exec_on_output_ended;
    hijack_start(&life->hijack, life->engine, &question);
}

static void exec_on_created(struct engine_request *request, const struct engine_answer *answer,
                            const struct error *err)
{
    struct exec_life *life = CONTAINER_OF(request, struct exec_life, request);
    const char *id = err ? NULL : json_object_get_string(answer->json, "Id");

    if (!id) {
        exec_fail(life, answer->status,
                  err ? err->message : "the Docker engine did not say what the program is called");
        return;
    }
    life->id = memory_copy_string(id);
    exec_life_start(life);
}

static void exec_create(struct exec_life *life, const struct exec_plan *plan)
{
    AUTO_FREE char *path = memory_format("/containers/%s/exec", plan->container);
    const struct engine_question question = {
        .method = "POST", .path = path, .body = plan->definition};

    life->request.done = exec_on_created;
    engine_request_start(&life->request, life->engine, &question);
}

static void exec_on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct exec_life *life = CONTAINER_OF(timer, struct exec_life, bound);
    char text[ERROR_MESSAGE_BYTES];

    (void)loop;
    (void)events;
    snprintf(text, sizeof text, "the program did not start within %g seconds", life->start_timeout);
    exec_fail(life, 0, text);
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
    ev_timer_init(&life->bound, exec_on_bound, plan->start_timeout, 0.);
    ev_init(&life->again, exec_on_again);
    life->again.repeat = EXEC_AGAIN_SECONDS;
    ev_now_update(engine_loop(engine));
    if (plan->start_timeout > 0)
        ev_timer_start(engine_loop(engine), &life->bound);
    exec_create(life, plan);
}

void exec_cancel(struct exec *exec)
{
    if (!exec->life)
        return;
    exec_life_free(exec->life);
    exec->life = NULL;
}
