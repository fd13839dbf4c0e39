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
    struct tool_caller *caller = tool_caller_new(principals, "somebody", true);
    struct tool_caller *other = tool_caller_new(principals, "somebody", true);
    int one = 1;
    int ten = 10;

    (void)state;
    released = 0;
    assert_null(tool_caller_get(caller, "first"));
    tool_caller_keep(caller, "first", &one, release);
    tool_caller_keep(caller, "second", &ten, release);
    assert_ptr_equal(tool_caller_get(caller, "first"), &one);
    assert_ptr_equal(tool_caller_get(caller, "second"), &ten);
    assert_null(tool_caller_get(other, "first"));
    tool_caller_unref(caller);
    assert_int_equal(released, 11);
    tool_caller_unref(other);
    principals_free(principals);
}

static void
what_is_kept_for_requests_that_stand_alone_goes_with_the_last_of_their_principal(void **state)
{
    struct principals *principals = principals_new();
    struct tool_caller *first = tool_caller_new(principals, "somebody", false);
    struct tool_caller *second = tool_caller_new(principals, "somebody", false);
    struct tool_caller *stranger = tool_caller_new(principals, "somebody else", false);
    int one = 1;

    (void)state;
    released = 0;
    tool_caller_keep(first, "tool", &one, release);
    tool_caller_unref(first);
    assert_ptr_equal(tool_caller_get(second, "tool"), &one);
    assert_null(tool_caller_get(stranger, "tool"));
    assert_int_equal(released, 0);
    tool_caller_unref(second);
    assert_int_equal(released, 1);
    tool_caller_unref(stranger);
    principals_free(principals);
}

static void a_caller_is_there_until_nobody_holds_it(void **state)
{
    struct principals *principals = principals_new();
    struct tool_caller *caller = tool_caller_new(principals, "somebody", true);
    int one = 1;

    (void)state;
    released = 0;
    tool_caller_keep(caller, "tool", &one, release);
    tool_caller_ref(caller);
    tool_caller_unref(caller);
    assert_ptr_equal(tool_caller_get(caller, "tool"), &one);
    assert_int_equal(released, 0);
    tool_caller_unref(caller);
    assert_int_equal(released, 1);
    principals_free(principals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_for_a_caller_that_lasts_goes_with_it),
        cmocka_unit_test(
            what_is_kept_for_requests_that_stand_alone_goes_with_the_last_of_their_principal),
        cmocka_unit_test(a_caller_is_there_until_nobody_holds_it),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
