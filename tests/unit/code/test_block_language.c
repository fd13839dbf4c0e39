#include "server/tools/code/block_language.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_a_language_is_found_by_its_names_in_any_case(void **state)
{
    (void)state;
    assert_string_equal(block_language_find("Python")->name, "python");
    assert_string_equal(block_language_find("PY")->name, "python");
    assert_string_equal(block_language_find("shell")->program, "sh");
    assert_string_equal(block_language_find("js")->extension, "js");
    assert_null(block_language_find("html")->program);
    assert_null(block_language_find(""));
    assert_null(block_language_find("c++"));
}

static void test_a_block_without_a_language_is_a_shells_if_it_runs_python(void **state)
{
    (void)state;
    assert_string_equal(block_language_infer("pip install x")->name, "sh");
    assert_string_equal(block_language_infer("python a.py")->name, "sh");
    assert_string_equal(block_language_infer("python3 a.py")->name, "sh");
    assert_string_equal(block_language_infer("python = 1")->name, "sh");
    assert_string_equal(block_language_infer("pipeline = 1")->name, "python");
    assert_string_equal(block_language_infer("print(1)")->name, "python");
    assert_string_equal(block_language_infer("")->name, "python");
}

static void test_the_list_names_every_language(void **state)
{
    AUTO_FREE char *list = block_language_list();

    (void)state;
    assert_string_equal(list, "python, bash, sh, javascript, html, css");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_language_is_found_by_its_names_in_any_case),
        cmocka_unit_test(test_a_block_without_a_language_is_a_shells_if_it_runs_python),
        cmocka_unit_test(test_the_list_names_every_language),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
