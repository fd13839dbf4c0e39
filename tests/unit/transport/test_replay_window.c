#include "server/transport/identity/replay_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct replay_window));
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static void test_each_number_is_taken_once_in_any_order(void **state)
{
    static const uint64_t numbers[] = {1, 5, 3, 64, 63, 8192, 2, 9000, 8999, 20000};
    const size_t count = sizeof numbers / sizeof *numbers;

    for (size_t i = 0; i < count; i++) {
        assert_true(replay_window_take(*state, 1, numbers[i]));
        for (size_t j = 0; j <= i; j++)
            assert_false(replay_window_take(*state, 1, numbers[j]));
    }
}

static void test_what_is_too_far_back_counts_as_used(void **state)
{
    const uint64_t newest = 3 * REPLAY_WINDOW_NUMBERS;

    assert_true(replay_window_take(*state, 1, newest));
    assert_false(replay_window_take(*state, 1, newest - REPLAY_WINDOW_NUMBERS));
    assert_true(replay_window_take(*state, 1, newest - REPLAY_WINDOW_NUMBERS + 1));
    assert_false(replay_window_take(*state, 1, newest - REPLAY_WINDOW_NUMBERS + 1));
    assert_true(replay_window_take(*state, 1, newest + 1));
    assert_true(replay_window_take(*state, 1, newest - 1));
}

static void test_all_of_many_numbers_are_taken_once(void **state)
{
    for (uint64_t number = 1; number < 4 * REPLAY_WINDOW_NUMBERS; number++) {
        assert_true(replay_window_take(*state, 1, number));
        assert_false(replay_window_take(*state, 1, number));
        if (number > 100)
            assert_false(replay_window_take(*state, 1, number - 100));
    }
}

static void test_a_later_epoch_begins_again_and_ends_the_earlier(void **state)
{
    assert_true(replay_window_take(*state, 1, 7));
    assert_true(replay_window_take(*state, 2, 7));
    assert_false(replay_window_take(*state, 2, 7));
    assert_false(replay_window_take(*state, 1, 8));
    assert_true(replay_window_take(*state, 2, 1));
}

static void test_there_is_no_number_0(void **state)
{
    assert_false(replay_window_take(*state, 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_number_is_taken_once_in_any_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_too_far_back_counts_as_used, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_all_of_many_numbers_are_taken_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_later_epoch_begins_again_and_ends_the_earlier,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_there_is_no_number_0, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
