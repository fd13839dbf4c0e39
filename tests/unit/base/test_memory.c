#include "base/memory.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_new_memory_is_zeroed(void **state)
{
    AUTO_FREE unsigned char *bytes = memory_new(100, 3);

    (void)state;
    for (int i = 0; i < 300; i++)
        assert_int_equal(bytes[i], 0);
}

static void test_nothing_can_be_allocated(void **state)
{
    AUTO_FREE char *none = memory_new(0, 0);
    char *some = memory_new(1, 1);

    (void)state;
    assert_non_null(none);
    some = memory_resize(some, 0);
    assert_non_null(some);
    free(some);
}

static void test_text_of_any_length_is_formatted(void **state)
{
    AUTO_FREE char *name = memory_new(10001, 1);
    AUTO_FREE char *text = NULL;

    (void)state;
    memset(name, 'x', 10000);
    text = memory_format("<%s> %05d", name, 42);
    assert_int_equal(strlen(text), 10000 + 8);
    assert_string_equal(text + 10001, "> 00042");
}

static void test_a_copied_string_is_another_one(void **state)
{
    char text[] = "text";
    AUTO_FREE char *copy = memory_copy_string(text);

    (void)state;
    text[0] = 'n';
    assert_string_equal(copy, "text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_memory_is_zeroed),
        cmocka_unit_test(test_nothing_can_be_allocated),
        cmocka_unit_test(test_text_of_any_length_is_formatted),
        cmocka_unit_test(test_a_copied_string_is_another_one),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
