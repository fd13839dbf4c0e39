#include "environments/docker/script_file.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static int set_up(void **state)
{
    *state = scratch_new();
    return 0;
}

static int tear_down(void **state)
{
    scratch_free(*state);
    return 0;
}

static void test_it_holds_the_code_for_nobody_else(void **state)
{
    AUTO_FREE char *path = memory_format("%s/code", (const char *)*state);
    struct error err = ERROR_INIT;
    AUTO_CLOSE int file = docker_script_file_new(path, "print(1)", 8, NULL, &err);
    AUTO_FREE char *text = read_text(path);
    struct stat status;

    assert_true(file >= 0);
    assert_string_equal(text, "print(1)");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void test_what_is_there_already_is_left_alone(void **state)
{
    AUTO_FREE char *path = memory_format("%s/code", (const char *)*state);
    AUTO_FREE char *text = NULL;
    struct error err = ERROR_INIT;

    write_text(path, "something");
    assert_int_equal(docker_script_file_new(path, "print(1)", 8, NULL, &err), -1);
    assert_non_null(strstr(err.message, "cannot write the script: "));
    text = read_text(path);
    assert_string_equal(text, "something");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_holds_the_code_for_nobody_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_there_already_is_left_alone, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
