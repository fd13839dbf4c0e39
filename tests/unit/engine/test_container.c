#include "environments/engine/container.h"

#include "base/list.h"
#include "base/memory.h"
#include "environments/engine/exec.h"
#include "tests/unit/engine/fake_engine.h"
#include "tests/unit/transport/turning.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define EMPTY        "HTTP/1.1 204 No Content\r\n\r\n"
#define UPGRADED     "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
#define CREATED      "HTTP/1.1 201 Created\r\nContent-Length: 11\r\n\r\n{\"Id\":\"i1\"}"
#define EXITED       "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"StatusCode\":3}"
#define INSPECTED(S) "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"State\":{" S "}}"
#define REFUSED      "HTTP/1.1 409 Conflict\r\nContent-Length: 20\r\n\r\n{\"message\":\"not so\"}"
#define OUTPUT       UPGRADED "\1\0\0\0\0\0\0\3out\2\0\0\0\0\0\0\3err"

enum { OUTPUT_BYTES = sizeof OUTPUT - 1 };

/* The steps of a life; a test changes one. */
enum step {
    STEP_CREATE,
    STEP_ATTACH,
    STEP_START,
    STEP_WAIT,
    STEP_KILL,
    STEP_INSPECT,
    STEP_REMOVE,
    STEP_EXEC_CREATE,
    STEP_EXEC_START,
    STEP_EXEC_INSPECT,
    STEPS,
};

static const struct fake_answer usual[STEPS + 1] = {
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

struct fixture {
    struct fake_answer answers[STEPS + 1];
    struct ev_loop *loop;
    struct fake_engine *fake;
    struct engine *engine;
    struct container container;
    struct exec exec;
    char output[FRAME_STREAMS][64];
    bool started;
    bool ended;
    struct container_end end;
};

static struct fixture *fixture; /* of the test that runs */

static void note_output(enum frame_stream stream, const char *data, size_t length)
{
    assert_false(fixture->ended);
    assert_true(length < 32);
    strncat(fixture->output[stream], data, length);
}

static void note_end(const struct container_end *end)
{
    assert_false(fixture->ended);
    fixture->ended = true;
    fixture->end = *end;
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
    fixture->started = true;
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

static int set_up(void **state)
{
    static struct fixture memory;

    (void)state;
    fixture = &memory;
    *fixture = (struct fixture){
        .container = {.output = on_output, .started = on_started, .ended = on_ended},
        .exec = {.output = on_exec_output, .ended = on_exec_ended},
    };
    memcpy(fixture->answers, usual, sizeof usual);
    fixture->loop = ev_loop_new(0);
    fixture->fake = fake_engine_new(fixture->loop, fixture->answers);
    fixture->engine = fake_engine_client(fixture->fake);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    container_cancel(&fixture->container);
    exec_cancel(&fixture->exec);
    engine_free(fixture->engine);
    fake_engine_free(fixture->fake);
    ev_loop_destroy(fixture->loop);
    return 0;
}

static void answer(enum step step, const char *text, enum fake_manner manner)
{
    fixture->answers[step].answer = text;
    fixture->answers[step].length = 0;
    fixture->answers[step].manner = manner;
}

static void start_plan(struct container_plan plan)
{
    json_t *definition = json_pack("{s:s}", "Image", "x");

    plan.name = "n1";
    plan.definition = definition;
    container_start(&fixture->container, fixture->engine, &plan);
    json_decref(definition);
    assert_false(fixture->ended);
}

static void start(double timeout, bool keep)
{
    start_plan((struct container_plan){.start_timeout = timeout, .keep = keep});
}

static void start_exec(void)
{
    json_t *definition = json_object();
    const struct exec_plan plan = {.container = "i1", .definition = definition, .start_timeout = 5};

    exec_start(&fixture->exec, fixture->engine, &plan);
    json_decref(definition);
}

static unsigned count(enum step step)
{
    return fake_engine_count(fixture->fake, usual[step].request);
}

static void until_asked(enum step step)
{
    TURN_UNTIL(fixture->loop, count(step) > 0);
}

static void until_ended(void)
{
    TURN_UNTIL(fixture->loop, fixture->ended);
}

static void until_removed(void)
{
    TURN_UNTIL(fixture->loop, engine_is_idle(fixture->engine));
    assert_int_equal(count(STEP_REMOVE), 1);
}

static void test_life_from_creation_to_removal(void **state)
{
    (void)state;
    start(5, false);
    until_ended();
    assert_true(fixture->started && fixture->end.started);
    assert_false(fixture->end.killed || fixture->end.out_of_memory);
    assert_true(fixture->end.start_seconds >= 0 && fixture->end.start_seconds < 5);
    assert_int_equal(fixture->end.exit_code, 3);
    assert_string_equal(fixture->end.failure, "");
    assert_string_equal(fixture->output[FRAME_STDOUT], "out");
    assert_string_equal(fixture->output[FRAME_STDERR], "err");
    until_removed();
    assert_string_equal(fake_engine_log(fixture->fake),
                        "GET /_ping\n"
                        "POST /v1.41/containers/create?name=n1\n"
                        "POST /v1.41/containers/i1/attach?stream=1&stdout=1&stderr=1\n"
                        "POST /v1.41/containers/i1/start\n"
                        "POST /v1.41/containers/i1/wait?condition=not-running\n"
                        "GET /v1.41/containers/i1/json\n"
                        "DELETE /v1.41/containers/i1?force=1&v=1\n");
}

static void test_every_answer_may_drip(void **state)
{
    (void)state;
    for (enum step step = 0; step < STEPS; step++)
        if (fixture->answers[step].manner == FAKE_AT_ONCE)
            fixture->answers[step].manner = FAKE_DRIPPING;
    fixture->answers[STEP_ATTACH].manner = FAKE_DRIPPING; /* and then nothing: it is drained */
    start(5, false);
    until_ended();
    assert_int_equal(fixture->end.exit_code, 3);
    assert_string_equal(fixture->output[FRAME_STDOUT], "out");
    assert_string_equal(fixture->output[FRAME_STDERR], "err");
    until_removed();
}

static void test_lack_of_memory_is_told(void **state)
{
    (void)state;
    answer(STEP_INSPECT, INSPECTED("\"ExitCode\":137,\"OOMKilled\":true"), FAKE_CLOSING);
    start(5, false);
    until_ended();
    assert_true(fixture->end.out_of_memory);
    assert_int_equal(fixture->end.exit_code, 137);
}

static void test_kept_container_is_not_removed(void **state)
{
    (void)state;
    start(5, true);
    until_ended();
    assert_true(engine_is_idle(fixture->engine));
    assert_int_equal(count(STEP_REMOVE), 0);
}

static void test_refusals_are_told_and_nothing_is_left(void **state)
{
    static const enum step steps[] = {STEP_CREATE, STEP_ATTACH, STEP_START};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        answer(steps[i], REFUSED, FAKE_AT_ONCE);
        start(5, true);
        until_ended();
        assert_false(fixture->end.started);
        assert_int_equal(fixture->end.status, 409);
        assert_string_equal(fixture->end.failure, "the Docker engine refused: not so");
        TURN_UNTIL(fixture->loop, engine_is_idle(fixture->engine));
        assert_int_equal(count(STEP_REMOVE), steps[i] == STEP_CREATE ? 0 : 1);
    }
}

static void test_each_step_of_the_start_is_bounded(void **state)
{
    static const enum step steps[] = {STEP_CREATE, STEP_ATTACH, STEP_START};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        fixture->answers[steps[i]].manner = FAKE_SILENT;
        start(0.2, false);
        until_ended();
        assert_false(fixture->end.started);
        assert_string_equal(fixture->end.failure, "the container did not start within 0.2 seconds");
        if (steps[i] == STEP_CREATE) {
            assert_false(engine_is_idle(fixture->engine));
            fake_engine_speak(fixture->fake);
        }
        until_removed();
    }
}

static void test_what_has_started_may_run_for_longer_than_it_may_start(void **state)
{
    (void)state;
    fixture->answers[STEP_WAIT].manner = FAKE_SILENT;
    start(0.2, false);
    until_asked(STEP_WAIT);
    turn_for(fixture->loop, 0.5);
    assert_false(fixture->ended);
    fake_engine_speak(fixture->fake);
    until_ended();
    assert_string_equal(fixture->end.failure, "");
    until_removed();
}

static void test_cancelled_before_it_is_created_it_is_removed_all_the_same(void **state)
{
    (void)state;
    answer(STEP_CREATE, CREATED, FAKE_SILENT);
    start(5, true);
    until_asked(STEP_CREATE);
    container_cancel(&fixture->container);
    container_cancel(&fixture->container);
    assert_false(engine_is_idle(fixture->engine));
    fake_engine_speak(fixture->fake);
    until_removed();
    assert_int_equal(count(STEP_START), 0);
    assert_false(fixture->ended);
}

static void test_cancelled_while_it_runs_it_is_removed(void **state)
{
    (void)state;
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start(5, true);
    until_asked(STEP_WAIT);
    container_cancel(&fixture->container);
    until_removed();
    assert_false(fixture->ended);
}

static void test_killed_before_its_start_it_is_not_started(void **state)
{
    static const enum step steps[] = {STEP_CREATE, STEP_ATTACH};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        fixture->answers[steps[i]].manner = FAKE_SILENT;
        start(5, false);
        until_asked(steps[i]);
        container_kill(&fixture->container);
        assert_false(fixture->ended);
        fake_engine_speak(fixture->fake);
        until_ended();
        assert_true(fixture->end.killed && !fixture->end.started);
        assert_int_equal(count(STEP_START), 0);
        until_removed();
    }
}

static void test_killed_while_it_starts_it_is_killed_behind_that(void **state)
{
    (void)state;
    answer(STEP_START, EMPTY, FAKE_SILENT);
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start(5, false);
    until_asked(STEP_START);
    container_kill(&fixture->container);
    assert_int_equal(count(STEP_KILL), 0);
    fake_engine_speak(fixture->fake);
    until_asked(STEP_KILL);
    until_asked(STEP_WAIT);
    fake_engine_speak(fixture->fake);
    until_ended();
    assert_true(fixture->end.killed && fixture->end.started);
    until_removed();
}

static void test_killed_while_it_runs(void **state)
{
    (void)state;
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    answer(STEP_KILL, REFUSED, FAKE_AT_ONCE); /* it has just ended by itself */
    start(5, false);
    until_asked(STEP_WAIT);
    container_kill(&fixture->container);
    container_kill(&fixture->container);
    until_asked(STEP_KILL);
    fake_engine_speak(fixture->fake);
    until_ended();
    assert_true(fixture->end.killed);
    assert_string_equal(fixture->end.failure, "");
    assert_int_equal(count(STEP_KILL), 1);
    until_removed();
}

static void test_killed_before_its_start_it_does_not_wait_for_the_engine(void **state)
{
    static const enum step steps[] = {STEP_CREATE, STEP_ATTACH};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        fixture->answers[steps[i]].manner = FAKE_SILENT;
        start_plan((struct container_plan){.start_timeout = 5});
        until_asked(steps[i]);
        container_kill(&fixture->container);
        assert_false(fixture->ended);
        turn_for(fixture->loop, 0.01);
        assert_true(fixture->ended && fixture->end.killed);
        assert_string_equal(fixture->end.failure, "");
        fake_engine_speak(fixture->fake);
        until_removed();
    }
}

static void test_killed_and_cancelled_before_its_start_it_is_not_told_of(void **state)
{
    (void)state;
    fixture->answers[STEP_CREATE].manner = FAKE_SILENT;
    start(5, false);
    until_asked(STEP_CREATE);
    container_kill(&fixture->container);
    container_cancel(&fixture->container);
    fake_engine_speak(fixture->fake);
    until_removed();
    assert_false(fixture->ended);
}

static void test_interrupted_while_it_runs_it_goes_on(void **state)
{
    (void)state;
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    answer(STEP_KILL, "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", FAKE_AT_ONCE);
    start(5, false);
    container_interrupt(&fixture->container); /* does not run yet */
    until_asked(STEP_WAIT);
    assert_int_equal(count(STEP_KILL), 0);
    container_interrupt(&fixture->container);
    until_asked(STEP_KILL);
    assert_non_null(strstr(fake_engine_log(fixture->fake), "kill?signal=SIGINT"));
    turn_for(fixture->loop, 0.05);
    assert_false(fixture->ended);
    fake_engine_speak(fixture->fake);
    until_ended();
    assert_false(fixture->end.killed);
    assert_string_equal(fixture->end.failure, "");
    container_interrupt(&fixture->container); /* does not run any more */
    until_removed();
    assert_int_equal(count(STEP_KILL), 1);
}

static void test_program_that_is_told_is_killed_when_it_does_not_end(void **state)
{
    const char *told;

    (void)state;
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start_plan((struct container_plan){.start_timeout = 5, .is_told = true});
    until_asked(STEP_WAIT);
    container_kill(&fixture->container);
    TURN_UNTIL(fixture->loop, count(STEP_KILL) == 2);
    told = strstr(fake_engine_log(fixture->fake), "kill?signal=SIGTERM");
    assert_non_null(told);
    assert_non_null(strstr(told, "kill?signal=SIGKILL"));
    fake_engine_speak(fixture->fake);
    until_ended();
    assert_true(fixture->end.killed);
    until_removed();
}

static void test_program_that_is_told_and_ends_is_not_killed(void **state)
{
    (void)state;
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start_plan((struct container_plan){.start_timeout = 5, .is_told = true});
    until_asked(STEP_WAIT);
    container_kill(&fixture->container);
    until_asked(STEP_KILL);
    fake_engine_speak(fixture->fake);
    until_ended();
    assert_int_equal(count(STEP_KILL), 1);
    until_removed();
}

static void test_engine_that_does_not_kill_is_not_waited_for(void **state)
{
    (void)state;
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start(5, true);
    until_asked(STEP_WAIT);
    container_kill(&fixture->container);
    until_ended();
    assert_string_equal(fixture->end.failure, "the Docker engine did not end the container");
    until_removed(); /* what may still run is not kept */
}

static void test_engine_that_dies_is_the_end(void **state)
{
    double died;

    (void)state;
    fixture->answers[STEP_ATTACH].manner = FAKE_AT_ONCE;
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start(5, false);
    until_asked(STEP_WAIT);
    died = ev_time();
    fake_engine_die(fixture->fake);
    until_ended();
    assert_true(ev_time() - died < 1);
    assert_true(fixture->end.started);
    assert_int_equal(fixture->end.status, 0);
    assert_non_null(strstr(fixture->end.failure, "ended the connection"));
    fake_engine_come_back(fixture->fake);
    until_removed();
}

static void test_output_that_is_garbled_is_the_end(void **state)
{
    (void)state;
    answer(STEP_ATTACH, UPGRADED "no frames at all", FAKE_AT_ONCE);
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start(5, false);
    until_asked(STEP_KILL);
    fake_engine_speak(fixture->fake);
    until_ended();
    assert_string_equal(fixture->end.failure, "the engine's stream of output is garbled");
    until_removed();
}

static void test_output_that_is_cut_off_is_the_end(void **state)
{
    (void)state;
    fixture->answers[STEP_ATTACH].length = OUTPUT_BYTES - 1;
    answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start(5, false);
    until_asked(STEP_KILL);
    fake_engine_speak(fixture->fake);
    until_ended();
    assert_string_equal(fixture->output[FRAME_STDERR], "er");
    assert_non_null(strstr(fixture->end.failure, "ended the connection"));
    until_removed();
}

static void test_hijack_that_is_none_is_refused(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "what?\r\n\r\n",
        "",
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        answer(STEP_ATTACH, texts[i], FAKE_CLOSING);
        start(5, false);
        until_ended();
        assert_int_equal(count(STEP_START), 0);
        assert_true(fixture->end.failure[0] != '\0');
        until_removed();
    }
}

static void test_program_in_a_container(void **state)
{
    (void)state;
    start_exec();
    until_ended();
    assert_true(fixture->end.started);
    assert_int_equal(fixture->end.exit_code, 5);
    assert_string_equal(fixture->output[FRAME_STDOUT], "out");
    assert_string_equal(fixture->output[FRAME_STDERR], "err");
}

static void test_program_that_is_refused(void **state)
{
    static const enum step steps[] = {STEP_EXEC_CREATE, STEP_EXEC_START, STEP_EXEC_INSPECT};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        answer(steps[i], REFUSED, FAKE_AT_ONCE);
        start_exec();
        until_ended();
        assert_int_equal(fixture->end.status, 409);
        assert_string_equal(fixture->end.failure, "the Docker engine refused: not so");
    }
}

static void test_program_whose_end_is_not_known_yet_is_asked_for_again(void **state)
{
    (void)state;
    answer(STEP_EXEC_INSPECT,
           "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{\"Running\":true,\"ExitCode\":null}",
           FAKE_AT_ONCE);
    start_exec();
    TURN_UNTIL(fixture->loop, count(STEP_EXEC_INSPECT) > 2);
    answer(STEP_EXEC_INSPECT, usual[STEP_EXEC_INSPECT].answer, FAKE_AT_ONCE);
    until_ended();
    assert_int_equal(fixture->end.exit_code, 5);
}

static void test_cancelled_program_is_not_told_of(void **state)
{
    (void)state;
    fixture->answers[STEP_EXEC_START].manner = FAKE_AT_ONCE;
    start_exec();
    TURN_UNTIL(fixture->loop, fixture->output[FRAME_STDERR][0]);
    exec_cancel(&fixture->exec);
    exec_cancel(&fixture->exec);
    turn_for(fixture->loop, 0.05);
    assert_false(fixture->ended);
}

#define LIFE_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE_TEST(test_life_from_creation_to_removal),
        LIFE_TEST(test_every_answer_may_drip),
        LIFE_TEST(test_lack_of_memory_is_told),
        LIFE_TEST(test_kept_container_is_not_removed),
        LIFE_TEST(test_refusals_are_told_and_nothing_is_left),
        LIFE_TEST(test_each_step_of_the_start_is_bounded),
        LIFE_TEST(test_what_has_started_may_run_for_longer_than_it_may_start),
        LIFE_TEST(test_cancelled_before_it_is_created_it_is_removed_all_the_same),
        LIFE_TEST(test_cancelled_while_it_runs_it_is_removed),
        LIFE_TEST(test_killed_before_its_start_it_is_not_started),
        LIFE_TEST(test_killed_while_it_starts_it_is_killed_behind_that),
        LIFE_TEST(test_killed_while_it_runs),
        LIFE_TEST(test_killed_before_its_start_it_does_not_wait_for_the_engine),
        LIFE_TEST(test_killed_and_cancelled_before_its_start_it_is_not_told_of),
        LIFE_TEST(test_interrupted_while_it_runs_it_goes_on),
        LIFE_TEST(test_program_that_is_told_is_killed_when_it_does_not_end),
        LIFE_TEST(test_program_that_is_told_and_ends_is_not_killed),
        LIFE_TEST(test_engine_that_does_not_kill_is_not_waited_for),
        LIFE_TEST(test_engine_that_dies_is_the_end),
        LIFE_TEST(test_output_that_is_garbled_is_the_end),
        LIFE_TEST(test_output_that_is_cut_off_is_the_end),
        LIFE_TEST(test_hijack_that_is_none_is_refused),
        LIFE_TEST(test_program_in_a_container),
        LIFE_TEST(test_program_that_is_refused),
        LIFE_TEST(test_program_whose_end_is_not_known_yet_is_asked_for_again),
        LIFE_TEST(test_cancelled_program_is_not_told_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
