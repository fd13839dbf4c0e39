#include "environments/docker/kept_ask.h"

#include "base/error.h"
#include "environments/docker/site.h"
#include "environments/engine/go.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A run at STEP that was asked, and has answered or not. */
static struct kept_ask asked(enum kept_try step, bool has_answered)
{
    struct kept_ask ask = {0};

    kept_ask_begin(&ask, step);
    ask.is_asked = step != KEPT_TRY_PLAIN;
    ask.has_begun |= has_answered;
    return ask;
}

static void test_without_an_answer_nothing_has_run(void **state)
{
    const struct kept_ask silent = asked(KEPT_TRY_OWN, false);
    const struct kept_ask answered = asked(KEPT_TRY_OWN, true);
    const struct container_end killed = {.started = true, .exit_code = 137};
    const struct container_end gone = {
        .started = true, .failure = "no such exec", .status = DOCKER_NOT_FOUND};

    (void)state;
    assert_true(kept_ask_never_began(&silent, &killed));
    assert_true(kept_ask_never_began(&silent, &gone));
    assert_false(kept_ask_never_began(&answered, &killed) || kept_ask_is_lost(&answered, &killed));
}

static void test_nothing_is_known_when_the_connection_is_lost_before_the_answer(void **state)
{
    const struct container_end lost = {.started = true, .failure = "connection reset"};
    struct kept_ask ask = asked(KEPT_TRY_WAITING, false);

    (void)state;
    assert_true(kept_ask_is_lost(&ask, &lost) && !kept_ask_never_began(&ask, &lost));
    ask.is_asked = false;
    assert_true(kept_ask_never_began(&ask, &lost));
}

static void test_without_a_go_only_the_engine_knows(void **state)
{
    const struct kept_ask ask = asked(KEPT_TRY_PLAIN, false);
    const struct container_end refused = {.failure = "not running", .status = 409};
    const struct container_end killed = {.started = true, .exit_code = 137};

    (void)state;
    assert_true(kept_ask_never_began(&ask, &refused));
    assert_false(kept_ask_never_began(&ask, &killed) || kept_ask_is_lost(&ask, &killed));
}

static void test_only_an_init_that_refuses_the_go_is_tried_without(void **state)
{
    const struct kept_ask waiting = asked(KEPT_TRY_WAITING, false);
    const struct kept_ask own = asked(KEPT_TRY_OWN, false);
    const struct container_end refuses = {.started = true, .exit_code = GO_NOT_BEGUN};
    const struct container_end killed = {.started = true, .exit_code = 137};

    (void)state;
    assert_int_equal(kept_ask_next(&waiting, &refuses), KEPT_TRY_PLAIN);
    assert_int_equal(kept_ask_next(&waiting, &killed), KEPT_TRY_OWN);
    assert_int_equal(kept_ask_next(&own, &refuses), KEPT_TRY_PLAIN);
    assert_int_equal(kept_ask_next(&own, &killed), KEPT_TRY_NONE);
}

static void test_words_before_the_answer_are_none_of_the_script(void **state)
{
    struct kept_ask ask = asked(KEPT_TRY_OWN, false);
    const char *data = "OCI runtime exec failed";
    size_t length = 23;
    const char answer[] = {GO_ANSWER, 'x'};

    (void)state;
    assert_false(kept_ask_skip_answer(&ask, FRAME_STDOUT, &data, &length) || ask.has_begun);
    data = answer;
    length = sizeof answer;
    assert_true(kept_ask_skip_answer(&ask, FRAME_STDOUT, &data, &length) && ask.has_begun);
    assert_true(length == 1 && *data == 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_an_answer_nothing_has_run),
        cmocka_unit_test(test_nothing_is_known_when_the_connection_is_lost_before_the_answer),
        cmocka_unit_test(test_without_a_go_only_the_engine_knows),
        cmocka_unit_test(test_only_an_init_that_refuses_the_go_is_tried_without),
        cmocka_unit_test(test_words_before_the_answer_are_none_of_the_script),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
