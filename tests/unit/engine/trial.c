#include "tests/unit/engine/trial.h"

#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

const struct fake_answer trial_usual[STEPS + 1] = {
    [STEP_CREATE] = {.request = "POST /v1.41/containers/create", .answer = CREATED},
    [STEP_ATTACH] = {.request = "POST /v1.41/containers/i1/attach",
                     .answer = OUTPUT,
                     .length = OUTPUT_BYTES,
                     .manner = FAKE_CLOSING},
    [STEP_START] = {.request = "POST /v1.41/containers/i1/start", .answer = EMPTY},
    [STEP_WAIT] = {.request = "POST /v1.41/containers/i1/wait", .answer = EXITED},
    [STEP_KILL] = {.request = "POST /v1.41/containers/i1/kill", .answer = EMPTY},
    [STEP_INSPECT] = {.request = "GET /v1.41/containers/i1/json",
                      .answer = INSPECTED("\"ExitCode\":3,\"OOMKilled\":false,\"Error\":\"\""),
                      .manner = FAKE_CLOSING},
    [STEP_REMOVE] = {.request = "DELETE /v1.41/containers/", .answer = EMPTY},
    [STEP_EXEC_CREATE] = {.request = "POST /v1.41/containers/i1/exec", .answer = CREATED},
    [STEP_EXEC_START] = {.request = "POST /v1.41/exec/i1/start",
                         .answer = OUTPUT,
                         .length = OUTPUT_BYTES,
                         .manner = FAKE_CLOSING},
    [STEP_EXEC_INSPECT] = {.request = "GET /v1.41/exec/i1/json",
                           .answer = "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n"
                                     "{\"Running\":false,\"ExitCode\":5}"},
};

struct trial *trial;

static void note_output(enum frame_stream stream, const char *data, size_t length)
{
    assert_false(trial->ended);
    assert_true(length < 32);
    strncat(trial->output[stream], data, length);
}

static void note_end(const struct container_end *end)
{
    assert_false(trial->ended);
    trial->ended = true;
    trial->end = *end;
}

static void on_output(struct container *container, enum frame_stream stream, const char *data,
                      size_t length)
{
    (void)container;
    note_output(stream, data, length);
}

static void on_started(struct container *container)
{
    assert_string_equal(container_id(container), "i1");
    trial->started = true;
}

static void on_ended(struct container *container, const struct container_end *end)
{
    (void)container;
    note_end(end);
}

static void on_exec_output(struct exec *exec, enum frame_stream stream, const char *data,
                           size_t length)
{
    (void)exec;
    note_output(stream, data, length);
}

static void on_exec_ended(struct exec *exec, const struct container_end *end)
{
    (void)exec;
    note_end(end);
}

int trial_set_up(void **state)
{
    static struct trial memory;

    (void)state;
    trial = &memory;
    *trial = (struct trial){
        .container = {.output = on_output, .started = on_started, .ended = on_ended},
        .exec = {.output = on_exec_output, .ended = on_exec_ended},
    };
    memcpy(trial->answers, trial_usual, sizeof trial_usual);
    trial->loop = ev_loop_new(0);
    trial->fake = fake_engine_new(trial->loop, trial->answers);
    trial->engine = fake_engine_client(trial->fake);
    return 0;
}

int trial_tear_down(void **state)
{
    (void)state;
    container_cancel(&trial->container);
    exec_cancel(&trial->exec);
    engine_free(trial->engine);
    fake_engine_free(trial->fake);
    ev_loop_destroy(trial->loop);
    return 0;
}

void trial_begin_anew(void **state)
{
    trial_tear_down(state);
    trial_set_up(state);
}

void trial_answer(enum step step, const char *text, enum fake_manner manner)
{
    trial->answers[step].answer = text;
    trial->answers[step].length = 0;
    trial->answers[step].manner = manner;
}

unsigned trial_count(enum step step)
{
    return fake_engine_count(trial->fake, trial_usual[step].request);
}

void trial_until_ended(void)
{
    TURN_UNTIL(trial->loop, trial->ended);
}
