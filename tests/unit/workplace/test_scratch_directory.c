#include "environments/workplace/scratch_directory.h"

#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

static char *scratch;
static char *path; /* of a directory in it that is not there yet */

static int set_up(void **state)
{
    (void)state;
    scratch = scratch_new();
    path = memory_format("%s/new", scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(path);
    scratch_free(scratch);
    return 0;
}

static void test_only_one_has_it_at_a_time(void **state)
{
    struct scratch_directory one;
    struct scratch_directory two;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scratch_directory_lock(&one, path, &err), OUTCOME_READY);
    assert_int_equal(scratch_directory_lock(&two, path, &err), OUTCOME_PENDING);
    scratch_directory_unlock(&one);
    scratch_directory_unlock(&one);
    assert_int_equal(scratch_directory_lock(&two, path, &err), OUTCOME_READY);
    scratch_directory_unlock(&two);
}

static void test_one_that_was_removed_by_its_holder_is_made_anew(void **state)
{
    struct scratch_directory one;
    struct scratch_directory two;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scratch_directory_lock(&one, path, &err), OUTCOME_READY);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(scratch_directory_lock(&two, path, &err), OUTCOME_READY);
    assert_int_equal(access(path, F_OK), 0);
    scratch_directory_unlock(&one);
    scratch_directory_unlock(&two);
}

static void test_what_was_left_in_it_is_still_there(void **state)
{
    struct scratch_directory directory;
    struct error err = ERROR_INIT;

    (void)state;
    shell(scratch, "mkdir -p new/half");
    assert_int_equal(scratch_directory_lock(&directory, path, &err), OUTCOME_READY);
    assert_int_equal(count_entries(path), 1);
    scratch_directory_unlock(&directory);
}

static void test_what_is_no_directory_is_an_error(void **state)
{
    struct scratch_directory directory = {0};
    struct error err = ERROR_INIT;

    (void)state;
    shell(scratch, "mkdir elsewhere; ln -s elsewhere new");
    assert_int_equal(scratch_directory_lock(&directory, path, &err), OUTCOME_FAILED);
    assert_non_null(strstr(err.message, path));
}

#define SCRATCH_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_only_one_has_it_at_a_time),
        SCRATCH_TEST(test_one_that_was_removed_by_its_holder_is_made_anew),
        SCRATCH_TEST(test_what_was_left_in_it_is_still_there),
        SCRATCH_TEST(test_what_is_no_directory_is_an_error),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
