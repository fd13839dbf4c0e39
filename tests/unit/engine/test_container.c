#include "environments/engine/container.h"

#include "base/memory.h"
#include "tests/unit/engine/trial.h"
#include "tests/unit/transport/turning.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void start_container(struct container *container, struct container_plan plan)
{
    json_t *definition = json_pack("{s:s}", "Image", "x");

    plan.name = "n1";
    plan.definition = definition;
    container_start(container, trial->engine, &plan);
    json_decref(definition);
    assert_false(trial->ended);
}

static void start_plan(struct container_plan plan)
{
    start_container(&trial->container, plan);
}

static void start(double timeout, bool keep)
{
    start_plan((struct container_plan){.start_timeout = timeout, .keep = keep});
}

static void until_asked(enum step step)
{
    TURN_UNTIL(trial->loop, trial_count(step) > 0);
}

static void start_until_asked(enum step step, bool keep)
{
    start(5, keep);
    until_asked(step);
}

/* It runs from now on, until the engine speaks. */
static void start_until_it_runs(bool keep)
{
    trial_answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start_until_asked(STEP_WAIT, keep);
}

static void let_it_end(void)
{
    fake_engine_speak(trial->fake);
    trial_until_ended();
}

static void until_removed(void)
{
    TURN_UNTIL(trial->loop, engine_is_idle(trial->engine));
    assert_int_equal(trial_count(STEP_REMOVE), 1);
}

static void test_life_from_creation_to_removal(void **state)
{
    (void)state;
    start(5, false);
    trial_until_ended();
    assert_true(trial->started && trial->end.started);
    assert_false(trial->end.killed || trial->end.out_of_memory);
    assert_true(trial->end.start_seconds >= 0 && trial->end.start_seconds < 5);
    assert_int_equal(trial->end.exit_code, 3);
    assert_string_equal(trial->end.failure, "");
    assert_string_equal(trial->output[FRAME_STDOUT], "out");
    assert_string_equal(trial->output[FRAME_STDERR], "err");
    until_removed();
    assert_string_equal(fake_engine_log(trial->fake),
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
        if (trial->answers[step].manner == FAKE_AT_ONCE)
            trial->answers[step].manner = FAKE_DRIPPING;
    trial->answers[STEP_ATTACH].manner = FAKE_DRIPPING; /* and then nothing: it is drained */
    start(5, false);
    trial_until_ended();
    assert_int_equal(trial->end.exit_code, 3);
    assert_string_equal(trial->output[FRAME_STDOUT], "out");
    assert_string_equal(trial->output[FRAME_STDERR], "err");
    until_removed();
}

static void test_lack_of_memory_is_told(void **state)
{
    (void)state;
    trial_answer(STEP_INSPECT, INSPECTED("\"ExitCode\":137,\"OOMKilled\":true"), FAKE_CLOSING);
    start(5, false);
    trial_until_ended();
    assert_true(trial->end.out_of_memory);
    assert_int_equal(trial->end.exit_code, 137);
}

static void test_kept_container_is_not_removed(void **state)
{
    (void)state;
    start(5, true);
    trial_until_ended();
    assert_true(engine_is_idle(trial->engine));
    assert_int_equal(trial_count(STEP_REMOVE), 0);
}

static void test_refusals_are_told_and_nothing_is_left(void **state)
{
    static const enum step steps[] = {STEP_CREATE, STEP_ATTACH, STEP_START};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        trial_begin_anew(state);
        trial_answer(steps[i], REFUSED, FAKE_AT_ONCE);
        start(5, true);
        trial_until_ended();
        assert_false(trial->end.started);
        assert_int_equal(trial->end.status, 409);
        assert_string_equal(trial->end.failure, "the Docker engine refused: not so");
        TURN_UNTIL(trial->loop, engine_is_idle(trial->engine));
        assert_int_equal(trial_count(STEP_REMOVE), steps[i] == STEP_CREATE ? 0 : 1);
    }
}

static void test_each_step_of_the_start_is_bounded(void **state)
{
    static const enum step steps[] = {STEP_CREATE, STEP_ATTACH, STEP_START};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        trial_begin_anew(state);
        trial->answers[steps[i]].manner = FAKE_SILENT;
        start(0.2, false);
        trial_until_ended();
        assert_false(trial->end.started);
        assert_string_equal(trial->end.failure, "the container did not start within 0.2 seconds");
        if (steps[i] == STEP_CREATE) {
            assert_false(engine_is_idle(trial->engine));
            fake_engine_speak(trial->fake);
        }
        until_removed();
    }
}

static void test_what_has_started_may_run_for_longer_than_it_may_start(void **state)
{
    (void)state;
    trial->answers[STEP_WAIT].manner = FAKE_SILENT;
    start(0.2, false);
    until_asked(STEP_WAIT);
    turn_for(trial->loop, 0.5);
    assert_false(trial->ended);
    let_it_end();
    assert_string_equal(trial->end.failure, "");
    until_removed();
}

static void test_cancelled_before_it_is_created_it_is_removed_all_the_same(void **state)
{
    (void)state;
    trial_answer(STEP_CREATE, CREATED, FAKE_SILENT);
    start_until_asked(STEP_CREATE, true);
    container_cancel(&trial->container);
    container_cancel(&trial->container);
    assert_false(engine_is_idle(trial->engine));
    fake_engine_speak(trial->fake);
    until_removed();
    assert_int_equal(trial_count(STEP_START), 0);
    assert_false(trial->ended);
}

static void test_cancelled_while_it_runs_it_is_removed(void **state)
{
    (void)state;
    start_until_it_runs(true);
    container_cancel(&trial->container);
    until_removed();
    assert_false(trial->ended);
}

static void test_killed_before_its_start_it_is_not_started(void **state)
{
    static const enum step steps[] = {STEP_CREATE, STEP_ATTACH};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        trial_begin_anew(state);
        trial->answers[steps[i]].manner = FAKE_SILENT;
        start_until_asked(steps[i], false);
        container_kill(&trial->container);
        assert_false(trial->ended);
        let_it_end();
        assert_true(trial->end.killed && !trial->end.started);
        assert_int_equal(trial_count(STEP_START), 0);
        until_removed();
    }
}

static void test_killed_while_it_starts_it_is_killed_behind_that(void **state)
{
    (void)state;
    trial_answer(STEP_START, EMPTY, FAKE_SILENT);
    trial_answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start_until_asked(STEP_START, false);
    container_kill(&trial->container);
    assert_int_equal(trial_count(STEP_KILL), 0);
    fake_engine_speak(trial->fake);
    until_asked(STEP_KILL);
    until_asked(STEP_WAIT);
    let_it_end();
    assert_true(trial->end.killed && trial->end.started);
    until_removed();
}

static void test_killed_while_it_runs(void **state)
{
    (void)state;
    trial_answer(STEP_KILL, REFUSED, FAKE_AT_ONCE); /* it has just ended by itself */
    start_until_it_runs(false);
    container_kill(&trial->container);
    container_kill(&trial->container);
    until_asked(STEP_KILL);
    let_it_end();
    assert_true(trial->end.killed);
    assert_string_equal(trial->end.failure, "");
    assert_int_equal(trial_count(STEP_KILL), 1);
    until_removed();
}

static void test_killed_before_its_start_it_does_not_wait_for_the_engine(void **state)
{
    static const enum step steps[] = {STEP_CREATE, STEP_ATTACH};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        trial_begin_anew(state);
        trial->answers[steps[i]].manner = FAKE_SILENT;
        start_plan((struct container_plan){.start_timeout = 5});
        until_asked(steps[i]);
        container_kill(&trial->container);
        assert_false(trial->ended);
        turn_for(trial->loop, 0.01);
        assert_true(trial->ended && trial->end.killed);
        assert_string_equal(trial->end.failure, "");
        fake_engine_speak(trial->fake);
        until_removed();
    }
}

static void test_killed_and_cancelled_before_its_start_it_is_not_told_of(void **state)
{
    (void)state;
    trial->answers[STEP_CREATE].manner = FAKE_SILENT;
    start_until_asked(STEP_CREATE, false);
    container_kill(&trial->container);
    container_cancel(&trial->container);
    fake_engine_speak(trial->fake);
    until_removed();
    assert_false(trial->ended);
}

static void test_interrupted_while_it_runs_it_goes_on(void **state)
{
    (void)state;
    trial_answer(STEP_WAIT, EXITED, FAKE_SILENT);
    trial_answer(STEP_KILL, "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", FAKE_AT_ONCE);
    start(5, false);
    container_interrupt(&trial->container); /* does not run yet */
    until_asked(STEP_WAIT);
    assert_int_equal(trial_count(STEP_KILL), 0);
    container_interrupt(&trial->container);
    until_asked(STEP_KILL);
    assert_non_null(strstr(fake_engine_log(trial->fake), "kill?signal=SIGINT"));
    turn_for(trial->loop, 0.05);
    assert_false(trial->ended);
    let_it_end();
    assert_false(trial->end.killed);
    assert_string_equal(trial->end.failure, "");
    container_interrupt(&trial->container); /* does not run any more */
    until_removed();
    assert_int_equal(trial_count(STEP_KILL), 1);
}

/* Kills one that is told before. */
static void kill_one_that_is_told(void)
{
    trial_answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start_plan((struct container_plan){.start_timeout = 5, .is_told = true});
    until_asked(STEP_WAIT);
    container_kill(&trial->container);
}

static void test_program_that_is_told_is_killed_when_it_does_not_end(void **state)
{
    const char *told;

    (void)state;
    kill_one_that_is_told();
    TURN_UNTIL(trial->loop, trial_count(STEP_KILL) == 2);
    told = strstr(fake_engine_log(trial->fake), "kill?signal=SIGTERM");
    assert_non_null(told);
    assert_non_null(strstr(told, "kill?signal=SIGKILL"));
    let_it_end();
    assert_true(trial->end.killed);
    until_removed();
}

static void test_program_that_is_told_and_ends_is_not_killed(void **state)
{
    (void)state;
    kill_one_that_is_told();
    until_asked(STEP_KILL);
    let_it_end();
    assert_int_equal(trial_count(STEP_KILL), 1);
    until_removed();
}

static void test_engine_that_does_not_kill_is_not_waited_for(void **state)
{
    (void)state;
    start_until_it_runs(true);
    container_kill(&trial->container);
    trial_until_ended();
    assert_string_equal(trial->end.failure, "the Docker engine did not end the container");
    until_removed(); /* what may still run is not kept */
}

static void test_engine_that_dies_is_the_end(void **state)
{
    double died;

    (void)state;
    trial->answers[STEP_ATTACH].manner = FAKE_AT_ONCE;
    start_until_it_runs(false);
    died = ev_time();
    fake_engine_die(trial->fake);
    trial_until_ended();
    assert_true(ev_time() - died < 1);
    assert_true(trial->end.started);
    assert_int_equal(trial->end.status, 0);
    assert_non_null(strstr(trial->end.failure, "ended the connection"));
    fake_engine_come_back(trial->fake);
    until_removed();
}

static void test_output_that_is_garbled_is_the_end(void **state)
{
    (void)state;
    trial_answer(STEP_ATTACH, UPGRADED "no frames at all", FAKE_AT_ONCE);
    trial_answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start_until_asked(STEP_KILL, false);
    let_it_end();
    assert_string_equal(trial->end.failure, "the engine's stream of output is garbled");
    until_removed();
}

static void test_output_that_is_cut_off_is_the_end(void **state)
{
    (void)state;
    trial->answers[STEP_ATTACH].length = OUTPUT_BYTES - 1;
    trial_answer(STEP_WAIT, EXITED, FAKE_SILENT);
    start_until_asked(STEP_KILL, false);
    let_it_end();
    assert_string_equal(trial->output[FRAME_STDERR], "er");
    assert_non_null(strstr(trial->end.failure, "ended the connection"));
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
        trial_begin_anew(state);
        trial_answer(STEP_ATTACH, texts[i], FAKE_CLOSING);
        start(5, false);
        trial_until_ended();
        assert_int_equal(trial_count(STEP_START), 0);
        assert_true(trial->end.failure[0] != '\0');
        until_removed();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL_TEST(test_life_from_creation_to_removal),
        TRIAL_TEST(test_every_answer_may_drip),
        TRIAL_TEST(test_lack_of_memory_is_told),
        TRIAL_TEST(test_kept_container_is_not_removed),
        TRIAL_TEST(test_refusals_are_told_and_nothing_is_left),
        TRIAL_TEST(test_each_step_of_the_start_is_bounded),
        TRIAL_TEST(test_what_has_started_may_run_for_longer_than_it_may_start),
        TRIAL_TEST(test_cancelled_before_it_is_created_it_is_removed_all_the_same),
        TRIAL_TEST(test_cancelled_while_it_runs_it_is_removed),
        TRIAL_TEST(test_killed_before_its_start_it_is_not_started),
        TRIAL_TEST(test_killed_while_it_starts_it_is_killed_behind_that),
        TRIAL_TEST(test_killed_while_it_runs),
        TRIAL_TEST(test_killed_before_its_start_it_does_not_wait_for_the_engine),
        TRIAL_TEST(test_killed_and_cancelled_before_its_start_it_is_not_told_of),
        TRIAL_TEST(test_interrupted_while_it_runs_it_goes_on),
        TRIAL_TEST(test_program_that_is_told_is_killed_when_it_does_not_end),
        TRIAL_TEST(test_program_that_is_told_and_ends_is_not_killed),
        TRIAL_TEST(test_engine_that_does_not_kill_is_not_waited_for),
        TRIAL_TEST(test_engine_that_dies_is_the_end),
        TRIAL_TEST(test_output_that_is_garbled_is_the_end),
        TRIAL_TEST(test_output_that_is_cut_off_is_the_end),
        TRIAL_TEST(test_hijack_that_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
