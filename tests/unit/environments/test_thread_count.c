#include "environments/thread_count.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static void there_are_as_many_threads_as_cpus(void **state)
{
    (void)state;
    assert_int_equal(thread_count(1, 256, 0), 1);
    assert_int_equal(thread_count(2, 256, 1024 * MIB), 2);
    assert_int_equal(thread_count(8, 256, 0), 8);
}

static void a_part_of_a_cpu_is_one(void **state)
{
    (void)state;
    assert_int_equal(thread_count(0.1, 256, 0), 1);
    assert_int_equal(thread_count(1.5, 256, 0), 2);
}

static void there_are_no_more_than_the_limits_carry(void **state)
{
    (void)state;
    assert_int_equal(thread_count(96, 256, 1024 * MIB), 4);
    assert_int_equal(thread_count(96, 256, 0), 32);
    assert_int_equal(thread_count(96, 1024, 16384 * MIB), 96);
    assert_int_equal(thread_count(4, 1, 16 * MIB), 1);
}

static void each_variable_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < THREAD_VARIABLES; i++) {
        AUTO_FREE char *variable = thread_count_variable(i, 4);

        assert_string_equal(strchr(variable, '='), "=4");
        for (unsigned j = 0; j < i; j++) {
            AUTO_FREE char *other = thread_count_variable(j, 4);

            assert_string_not_equal(variable, other);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_as_many_threads_as_cpus),
        cmocka_unit_test(a_part_of_a_cpu_is_one),
        cmocka_unit_test(there_are_no_more_than_the_limits_carry),
        cmocka_unit_test(each_variable_has_a_name_of_its_own),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
