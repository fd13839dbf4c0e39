#include "environments/run_variables.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

static void test_variables_are_built_from_nothing(void **state)
{
    char **variables;

    (void)state;
    setenv("SECRET", "of the server", 1);
    setenv("PYTHONUNBUFFERED", "1", 1);
    variables =
        run_variables_new("/opt/python/bin/python3", "/home/tester/here", 3, NULL, NULL, NULL);
    assert_string_equal(variables[0], "PATH=/opt/python/bin:/usr/local/bin:/usr/bin:/bin");
    assert_string_equal(variables[1], "HOME=/home/tester/here");
    assert_string_equal(variables[2], "LANG=C.UTF-8");
    assert_string_equal(variables[3], "TMPDIR=/tmp");
    assert_string_equal(variables[4], "PYTHONDONTWRITEBYTECODE=1");
    assert_string_equal(variables[5], "OMP_NUM_THREADS=3");
    assert_null(variables[5 + THREAD_VARIABLES]);
    memory_free_strings(variables);
}

static void test_the_operators_are_added_and_win(void **state)
{
    char tz[] = "TZ=UTC";
    char home[] = "HOME=/root";
    char homes[] = "HOMES=1";
    char empty[] = "LANG=";
    char *own[] = {tz, home, homes, empty, NULL};
    char **variables = run_variables_new("/usr/bin/python3", "/home/tester", 3, NULL, own, NULL);

    (void)state;
    assert_string_equal(variables[1], "HOME=/root");
    assert_string_equal(variables[2], "LANG=");
    assert_string_equal(variables[5 + THREAD_VARIABLES], "TZ=UTC");
    assert_string_equal(variables[6 + THREAD_VARIABLES], "HOMES=1");
    assert_null(variables[7 + THREAD_VARIABLES]);
    memory_free_strings(variables);
}

static void test_those_of_the_run_win_over_all(void **state)
{
    char home[] = "HOME=/root";
    char *own[] = {home, NULL};
    const char *const further[] = {"OMP_NUM_THREADS=7", "HOME=/here", NULL};
    char **copy = memory_copy_strings(further);
    char **variables = run_variables_new("/usr/bin/python3", "/home/tester", 3, NULL, own,
                                         (const char *const *)copy);

    (void)state;
    assert_string_equal(variables[1], "HOME=/here");
    assert_string_equal(variables[5], "OMP_NUM_THREADS=7");
    assert_null(variables[5 + THREAD_VARIABLES]);
    assert_null(memory_copy_strings(NULL));
    memory_free_strings(variables);
    memory_free_strings(copy);
}

static void test_a_virtual_environment_is_named(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *interpreter = memory_format("%s/venv/bin/python", scratch);
    AUTO_FREE char *path = memory_format("PATH=%s/venv/bin:/usr/local/bin:/usr/bin:/bin", scratch);
    AUTO_FREE char *venv = memory_format("VIRTUAL_ENV=%s/venv", scratch);
    char **variables;

    (void)state;
    shell(scratch, "mkdir -p venv/bin");
    variables = run_variables_new(interpreter, scratch, 3, NULL, NULL, NULL);
    assert_null(variables[5 + THREAD_VARIABLES]);
    memory_free_strings(variables);
    shell(scratch, "echo home = /usr/bin >venv/pyvenv.cfg");
    variables = run_variables_new(interpreter, scratch, 3, NULL, NULL, NULL);
    assert_string_equal(variables[0], path);
    assert_string_equal(variables[5], venv);
    assert_null(variables[6 + THREAD_VARIABLES]);
    memory_free_strings(variables);
    scratch_free(scratch);
}

static void there_are_as_many_threads_as_cpus(void **state)
{
    (void)state;
    assert_int_equal(run_variables_thread_count(1, 256, 0), 1);
    assert_int_equal(run_variables_thread_count(2, 256, 1024 * MIB), 2);
    assert_int_equal(run_variables_thread_count(8, 256, 0), 8);
}

static void a_part_of_a_cpu_is_one(void **state)
{
    (void)state;
    assert_int_equal(run_variables_thread_count(0.1, 256, 0), 1);
    assert_int_equal(run_variables_thread_count(1.5, 256, 0), 2);
}

static void there_are_no_more_than_the_limits_carry(void **state)
{
    (void)state;
    assert_int_equal(run_variables_thread_count(96, 256, 1024 * MIB), 4);
    assert_int_equal(run_variables_thread_count(96, 256, 0), 32);
    assert_int_equal(run_variables_thread_count(96, 1024, 16384 * MIB), 96);
    assert_int_equal(run_variables_thread_count(4, 1, 16 * MIB), 1);
}

static void each_variable_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < THREAD_VARIABLES; i++) {
        AUTO_FREE char *variable = run_variables_thread(i, 4);

        assert_string_equal(strchr(variable, '='), "=4");
        for (unsigned j = 0; j < i; j++) {
            AUTO_FREE char *other = run_variables_thread(j, 4);

            assert_string_not_equal(variable, other);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables_are_built_from_nothing),
        cmocka_unit_test(test_the_operators_are_added_and_win),
        cmocka_unit_test(test_those_of_the_run_win_over_all),
        cmocka_unit_test(test_a_virtual_environment_is_named),
        cmocka_unit_test(there_are_as_many_threads_as_cpus),
        cmocka_unit_test(a_part_of_a_cpu_is_one),
        cmocka_unit_test(there_are_no_more_than_the_limits_carry),
        cmocka_unit_test(each_variable_has_a_name_of_its_own),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
