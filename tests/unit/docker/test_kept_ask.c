#include "environments/docker/kept_ask.h"

#include "base/error.h"
#include "environments/docker/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct docker_output silent;
static const struct docker_output begun = {.has_begun = true};
static const struct docker_output not_begun = {.has_not_begun = true};

/* A run at STEP that was asked. */
static struct kept_ask asked(enum kept_try step)
{
    struct kept_ask ask = {0};

    kept_ask_begin(&ask, step);
    ask.is_asked = step != KEPT_TRY_PLAIN;
    return ask;
}

static void test_without_an_answer_nothing_has_run(void **state)
{
    const struct kept_ask ask = asked(KEPT_TRY_OWN);
    const struct container_end killed = {.started = true, .exit_code = 137};
    const struct container_end gone = {
        .started = true, .failure = "no such exec", .status = DOCKER_NOT_FOUND};

    (void)state;
    assert_true(kept_ask_never_began(&ask, &silent, &killed));
    assert_true(kept_ask_never_began(&ask, &silent, &gone));
    assert_false(kept_ask_never_began(&ask, &begun, &killed));
    assert_false(kept_ask_is_lost(&ask, &begun, &killed));
}

static void test_nothing_is_known_when_the_connection_is_lost_before_the_answer(void **state)
{
    const struct container_end lost = {.started = true, .failure = "connection reset"};
    struct kept_ask ask = asked(KEPT_TRY_WAITING);

    (void)state;
    assert_true(kept_ask_is_lost(&ask, &silent, &lost));
    assert_false(kept_ask_never_began(&ask, &silent, &lost));
    assert_true(kept_ask_never_began(&ask, &not_begun, &lost));
    ask.is_asked = false;
    assert_true(kept_ask_never_began(&ask, &silent, &lost));
}

static void test_without_a_go_only_the_engine_knows(void **state)
{
    const struct kept_ask ask = asked(KEPT_TRY_PLAIN);
    const struct container_end refused = {.failure = "not running", .status = 409};
    const struct container_end killed = {.started = true, .exit_code = 137};

    (void)state;
    assert_true(kept_ask_never_began(&ask, &silent, &refused));
    assert_false(kept_ask_never_began(&ask, &silent, &killed));
    assert_false(kept_ask_is_lost(&ask, &silent, &killed));
}

static void test_only_an_init_that_refuses_the_go_is_tried_without(void **state)
{
    const struct kept_ask waiting = asked(KEPT_TRY_WAITING);
    const struct kept_ask own = asked(KEPT_TRY_OWN);

    (void)state;
    assert_int_equal(kept_ask_next(&waiting, &not_begun), KEPT_TRY_PLAIN);
    assert_int_equal(kept_ask_next(&waiting, &silent), KEPT_TRY_OWN);
    assert_int_equal(kept_ask_next(&own, &not_begun), KEPT_TRY_PLAIN);
    assert_int_equal(kept_ask_next(&own, &silent), KEPT_TRY_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_an_answer_nothing_has_run),
        cmocka_unit_test(test_nothing_is_known_when_the_connection_is_lost_before_the_answer),
        cmocka_unit_test(test_without_a_go_only_the_engine_knows),
        cmocka_unit_test(test_only_an_init_that_refuses_the_go_is_tried_without),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
