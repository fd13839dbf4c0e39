#include "environments/catalog/retirement.h"

#include "../environments/slow_environment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static struct ev_loop *loop;
static struct retirement retirement;

static int setup(void **state)
{
    (void)state;
    slow_alive = 0;
    slow_stopped = 0;
    loop = ev_loop_new(0);
    retirement_init(&retirement, loop);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    retirement_deinit(&retirement);
    assert_int_equal(slow_alive, 0);
    ev_loop_destroy(loop);
    return 0;
}

static void turn(void)
{
    ev_run(loop, EVRUN_NOWAIT);
}

static void test_one_that_nobody_has_goes_at_once(void **state)
{
    (void)state;
    retirement_add(&retirement, slow_environment_new(loop));
    assert_int_equal(slow_alive, 0);
    assert_int_equal(slow_stopped, 1);
    assert_int_equal(retirement.count, 0);
}

static void test_one_that_a_run_has_is_left_alone(void **state)
{
    struct environment *used = slow_environment_new(loop);

    (void)state;
    environment_hold(used);
    environment_hold(used);
    retirement_add(&retirement, used);
    turn();
    environment_release(used);
    turn();
    assert_int_equal(slow_stopped, 0);
    environment_release(used);
    turn();
    assert_int_equal(slow_stopped, 1);
    assert_int_equal(slow_alive, 0);
}

static void test_one_that_holds_something_is_waited_for(void **state)
{
    struct environment *slow = slow_environment_new(loop);

    (void)state;
    slow_of(slow)->is_slow = true;
    retirement_add(&retirement, slow);
    turn();
    turn();
    assert_int_equal(slow_stopped, 1);
    assert_false(retirement_is_idle(&retirement));
    slow_of(slow)->is_slow = false;
    assert_true(retirement_is_idle(&retirement));
    turn();
    assert_int_equal(slow_alive, 0);
    assert_int_equal(slow_stopped, 1);
}

static void test_at_the_end_all_are_stopped(void **state)
{
    struct environment *used = slow_environment_new(loop);

    (void)state;
    environment_hold(used);
    retirement_add(&retirement, used);
    retirement_stop(&retirement);
    retirement_stop(&retirement);
    assert_int_equal(slow_stopped, 1);
    environment_release(used);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_that_nobody_has_goes_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_a_run_has_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_holds_something_is_waited_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_at_the_end_all_are_stopped, setup, teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
