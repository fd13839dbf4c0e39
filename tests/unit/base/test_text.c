#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_a_prefix_may_be_empty_or_all_but_not_longer(void **state)
{
    (void)state;
    assert_true(text_starts_with("run_python", "run_"));
    assert_true(text_starts_with("run", ""));
    assert_true(text_starts_with("run", "run"));
    assert_false(text_starts_with("run", "run_"));
    assert_false(text_starts_with("", "r"));
}

static void test_dots_are_the_two_names_that_every_directory_has(void **state)
{
    (void)state;
    assert_true(text_is_dots("."));
    assert_true(text_is_dots(".."));
    assert_false(text_is_dots("..."));
    assert_false(text_is_dots(".hidden"));
    assert_false(text_is_dots(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_prefix_may_be_empty_or_all_but_not_longer),
        cmocka_unit_test(test_dots_are_the_two_names_that_every_directory_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
