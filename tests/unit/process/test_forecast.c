#include "environments/process/forecast.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_each_byte_of_the_limits_is_compared(void **state)
{
    const struct process_limits limits = {.memory = 1, .file_size = 2, .processes = 3, .nice = 4};

    (void)state;
    assert_true(process_limits_are_equal(&limits, &limits));
    for (size_t i = 0; i < sizeof limits; i++) {
        struct process_limits others = limits;

        ((unsigned char *)&others)[i] ^= 1;
        assert_false(process_limits_are_equal(&limits, &others));
    }
}

static void test_each_member_of_a_wish_is_compared(void **state)
{
    const struct tree_wish wish = {0};
    const struct tree_wish others[] = {
        {.sandbox = LAYER_ROOT}, {.all = true}, {.needed = LAYER_NETWORK}};

    (void)state;
    assert_true(machine_wishes_are_equal(&wish, &wish));
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        assert_false(machine_wishes_are_equal(&wish, &others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_byte_of_the_limits_is_compared),
        cmocka_unit_test(test_each_member_of_a_wish_is_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
