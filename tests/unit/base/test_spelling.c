#include "base/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char *nearest(const char *wrong, const char *const *candidates)
{
    struct spelling spelling = SPELLING_INIT(wrong);

    for (; *candidates; candidates++)
        spelling_try(&spelling, *candidates);
    return spelling.nearest;
}

static void test_the_nearest_of_the_candidates_is_found(void **state)
{
    static const char *const names[] = {"image", "images", "timeout", "pip_packages", "x", NULL};

    (void)state;
    assert_string_equal(nearest("imagee", names), "image");
    assert_string_equal(nearest("imagess", names), "images");
    assert_string_equal(nearest("tiemuot", names), "timeout");
    assert_string_equal(nearest("imeout", names), "timeout");
    assert_string_equal(nearest("pip-package", names), "pip_packages");
}

static void test_what_is_too_far_is_no_misspelling(void **state)
{
    static const char *const names[] = {"image", "ab", "x", NULL};

    (void)state;
    assert_null(nearest("imagination", names));
    assert_null(nearest("cd", names)); /* nothing of it is left */
    assert_null(nearest("y", names));
    assert_null(nearest("", names));
}

static void test_very_long_names_are_left_alone(void **state)
{
    char wrong[200];
    const char *const names[] = {wrong + 1, "a", NULL};

    (void)state;
    memset(wrong, 'a', sizeof wrong - 1);
    wrong[sizeof wrong - 1] = '\0';
    assert_null(nearest(wrong, names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_nearest_of_the_candidates_is_found),
        cmocka_unit_test(test_what_is_too_far_is_no_misspelling),
        cmocka_unit_test(test_very_long_names_are_left_alone),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
