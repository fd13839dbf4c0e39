#include "environments/run_variables.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/thread_count.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables_are_built_from_nothing),
        cmocka_unit_test(test_the_operators_are_added_and_win),
        cmocka_unit_test(test_those_of_the_run_win_over_all),
        cmocka_unit_test(test_a_virtual_environment_is_named),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
