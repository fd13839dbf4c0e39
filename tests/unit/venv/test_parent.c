/* The venv whose Python another venv is made from. */
#include "environments/venv/parent.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static void test_the_venv_of_a_python_is_the_one_around_it(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *inside = memory_format("%s/venv/bin/python", scratch);
    AUTO_FREE char *outside = memory_format("%s/bin/python", scratch);
    AUTO_FREE char *expected = memory_format("%s/venv", scratch);
    AUTO_FREE char *found = NULL;

    (void)state;
    shell(scratch, "mkdir venv; touch venv/pyvenv.cfg");
    found = venv_parent_find(inside);
    assert_string_equal(found, expected);
    assert_null(venv_parent_find(outside));
    assert_null(venv_parent_find("/bin/python"));
    assert_null(venv_parent_find("python"));
    assert_null(venv_parent_find(NULL));
    scratch_free(scratch);
}

static const struct {
    const char *settings;
    bool shows_base;
} venvs[] = {
    {"include-system-site-packages = true\n", true},
    {"home = /usr/bin\nInclude-System-Site-Packages=True\r\n", true},
    {"include-system-site-packages = false\n", false},
    {"home = /usr/bin\n  include-system-site-packages=no\n", false},
    {"home = /usr/bin\n", true}, /* as Python has it */
    {"include-system-site-packages", true},
};

static void test_the_settings_of_a_venv_are_read_as_python_reads_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(venvs); i++) {
        char *scratch = scratch_new();
        AUTO_FREE char *settings = memory_format("%s/pyvenv.cfg", scratch);

        write_text(settings, venvs[i].settings);
        assert_int_equal(venv_parent_shows_base(scratch), venvs[i].shows_base);
        scratch_free(scratch);
    }
}

static void test_what_is_no_file_of_settings_is_not_waited_for(void **state)
{
    char *scratch = scratch_new();

    (void)state;
    assert_false(venv_parent_shows_base(scratch));
    shell(scratch, "mkfifo pyvenv.cfg");
    assert_false(venv_parent_shows_base(scratch));
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_venv_of_a_python_is_the_one_around_it),
        cmocka_unit_test(test_the_settings_of_a_venv_are_read_as_python_reads_them),
        cmocka_unit_test(test_what_is_no_file_of_settings_is_not_waited_for),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
