#include "server/tools/caller.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static int released;

static void release(void *kept)
{
    released += *(int *)kept;
}

static void what_is_kept_for_a_caller_that_lasts_goes_with_it(void **state)
{
    struct principals *principals = principals_new();
    struct tool_caller caller;
    struct tool_caller other;
    int one = 1;
    int ten = 10;

    (void)state;
    released = 0;
    tool_caller_init(&caller, principals, "somebody", true);
    tool_caller_init(&other, principals, "somebody", true);
    assert_null(tool_caller_get(&caller, "first"));
    tool_caller_keep(&caller, "first", &one, release);
    tool_caller_keep(&caller, "second", &ten, release);
    assert_ptr_equal(tool_caller_get(&caller, "first"), &one);
    assert_ptr_equal(tool_caller_get(&caller, "second"), &ten);
    assert_null(tool_caller_get(&other, "first"));
    tool_caller_deinit(&caller);
    assert_int_equal(released, 11);
    tool_caller_deinit(&other);
    principals_free(principals);
}

static void
what_is_kept_for_requests_that_stand_alone_goes_with_the_last_of_their_principal(void **state)
{
    struct principals *principals = principals_new();
    struct tool_caller first;
    struct tool_caller second;
    struct tool_caller stranger;
    int one = 1;

    (void)state;
    released = 0;
    tool_caller_init(&first, principals, "somebody", false);
    tool_caller_init(&second, principals, "somebody", false);
    tool_caller_init(&stranger, principals, "somebody else", false);
    tool_caller_keep(&first, "tool", &one, release);
    tool_caller_deinit(&first);
    assert_ptr_equal(tool_caller_get(&second, "tool"), &one);
    assert_null(tool_caller_get(&stranger, "tool"));
    assert_int_equal(released, 0);
    tool_caller_deinit(&second);
    assert_int_equal(released, 1);
    tool_caller_deinit(&stranger);
    principals_free(principals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_for_a_caller_that_lasts_goes_with_it),
        cmocka_unit_test(
            what_is_kept_for_requests_that_stand_alone_goes_with_the_last_of_their_principal),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
