#include "environments/engine/exec.h"

#include "base/memory.h"
#include "tests/unit/engine/trial.h"
#include "tests/unit/transport/turning.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void start_exec(void)
{
    json_t *definition = json_object();
    const struct exec_plan plan = {.container = "i1", .definition = definition, .start_timeout = 5};

    exec_start(&trial->exec, trial->engine, &plan);
    json_decref(definition);
}

static void test_program_in_a_container(void **state)
{
    (void)state;
    start_exec();
    trial_until_ended();
    assert_true(trial->end.started);
    assert_int_equal(trial->end.exit_code, 5);
    assert_string_equal(trial->output[FRAME_STDOUT], "out");
    assert_string_equal(trial->output[FRAME_STDERR], "err");
}

static void test_program_that_is_refused(void **state)
{
    static const enum step steps[] = {STEP_EXEC_CREATE, STEP_EXEC_START, STEP_EXEC_INSPECT};

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        trial_begin_anew(state);
        trial_answer(steps[i], REFUSED, FAKE_AT_ONCE);
        start_exec();
        trial_until_ended();
        assert_int_equal(trial->end.status, 409);
        assert_string_equal(trial->end.failure, "the Docker engine refused: not so");
    }
}

static void test_program_whose_end_is_not_known_yet_is_asked_for_again(void **state)
{
    (void)state;
    trial_answer(
        STEP_EXEC_INSPECT,
        "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{\"Running\":true,\"ExitCode\":null}",
        FAKE_AT_ONCE);
    start_exec();
    TURN_UNTIL(trial->loop, trial_count(STEP_EXEC_INSPECT) > 2);
    trial_answer(STEP_EXEC_INSPECT, trial_usual[STEP_EXEC_INSPECT].answer, FAKE_AT_ONCE);
    trial_until_ended();
    assert_int_equal(trial->end.exit_code, 5);
}

static void test_cancelled_program_is_not_told_of(void **state)
{
    (void)state;
    trial->answers[STEP_EXEC_START].manner = FAKE_AT_ONCE;
    start_exec();
    TURN_UNTIL(trial->loop, trial->output[FRAME_STDERR][0]);
    exec_cancel(&trial->exec);
    exec_cancel(&trial->exec);
    turn_for(trial->loop, 0.05);
    assert_false(trial->ended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL_TEST(test_program_in_a_container),
        TRIAL_TEST(test_program_that_is_refused),
        TRIAL_TEST(test_program_whose_end_is_not_known_yet_is_asked_for_again),
        TRIAL_TEST(test_cancelled_program_is_not_told_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
