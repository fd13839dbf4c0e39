#include "environments/venv/place.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/venv/definition.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

static int setup(void **state)
{
    *state = scratch_new();
    return 0;
}

static int teardown(void **state)
{
    scratch_free(*state);
    return 0;
}

/* The place of a venv in the state directory SCRATCH, or at the path SCRATCH/NAME. */
static struct venv_place find_place(const char *scratch, const char *name)
{
    AUTO_FREE char *path = name ? memory_format("%s/%s", scratch, name) : NULL;
    struct venv_definition definition = {.venv_path = path};
    struct venv_packages packages = {0};
    struct venv_place place;

    venv_place_find(&place, &definition, &packages, scratch);
    return place;
}

static void test_a_venv_of_ours_is_in_the_state_directory(void **state)
{
    AUTO(venv_place_deinit) struct venv_place place = find_place(*state, NULL);
    AUTO_FREE char *python = memory_format("%s/venvs/%s/bin/python", (char *)*state, place.key);
    struct error err = ERROR_INIT;

    assert_true(place.is_ours);
    assert_string_equal(place.python, python);
    assert_int_equal(venv_place_prepare(&place, "0123456789", &err), 0);
    assert_null(place.aside);
}

static void test_a_venv_in_an_annex_is_ours(void **state)
{
    AUTO(venv_place_deinit) struct venv_place elsewhere = find_place(*state, "packages-of-mine/a");
    AUTO_FREE char *path = memory_format("%s/packages/a/b", (char *)*state);
    struct error err = ERROR_INIT;

    shell(*state, "mkdir packages");
    AUTO(venv_place_deinit) struct venv_place place = find_place(*state, "packages/a/b");

    assert_false(elsewhere.is_ours);
    assert_true(place.is_ours);
    assert_string_equal(place.path, path);
    assert_null(place.kept);
    assert_int_equal(venv_place_prepare(&place, "0123456789", &err), 0);
    assert_null(place.aside);
}

static void test_one_at_the_operators_path_is_made_beside_it(void **state)
{
    AUTO(venv_place_deinit) struct venv_place place = find_place(*state, "new/lab");
    AUTO_FREE char *aside = memory_format("%s/new/.lab.pyexecd-01234567", (char *)*state);
    AUTO_FREE char *parent = memory_format("%s/new", (char *)*state);
    struct error err = ERROR_INIT;

    assert_false(place.is_ours);
    assert_int_equal(venv_place_prepare(&place, "0123456789", &err), 0);
    assert_string_equal(place.aside, aside);
    assert_int_equal(count_entries(parent), 0);
}

static void test_an_empty_directory_may_be_there(void **state)
{
    AUTO(venv_place_deinit) struct venv_place place = find_place(*state, "lab");
    struct error err = ERROR_INIT;

    shell(*state, "mkdir lab");
    assert_int_equal(venv_place_prepare(&place, "0123456789", &err), 0);
}

static void test_nothing_is_made_over_other_files(void **state)
{
    AUTO(venv_place_deinit) struct venv_place place = find_place(*state, "lab");
    struct error other = ERROR_INIT;
    struct error broken = ERROR_INIT;

    shell(*state, "mkdir lab && touch lab/precious");
    assert_int_equal(venv_place_prepare(&place, "0123456789", &other), -1);
    assert_non_null(strstr(other.message, "holds no virtual environment"));
    shell(*state, "mkdir lab/bin && ln -s /nothing lab/bin/python");
    assert_int_equal(venv_place_prepare(&place, "0123456789", &broken), -1);
    assert_non_null(strstr(broken.message, "to have it made anew"));
}

static void test_only_one_has_the_scratch_directory_at_a_time(void **state)
{
    AUTO_FREE char *path = memory_format("%s/new", (char *)*state);
    struct venv_scratch one;
    struct venv_scratch two;
    struct error err = ERROR_INIT;

    assert_int_equal(venv_scratch_lock(&one, path, &err), OUTCOME_READY);
    assert_int_equal(venv_scratch_lock(&two, path, &err), OUTCOME_PENDING);
    venv_scratch_unlock(&one);
    venv_scratch_unlock(&one);
    assert_int_equal(venv_scratch_lock(&two, path, &err), OUTCOME_READY);
    venv_scratch_unlock(&two);
}

static void test_a_scratch_directory_that_its_holder_removed_is_made_anew(void **state)
{
    AUTO_FREE char *path = memory_format("%s/new", (char *)*state);
    struct venv_scratch one;
    struct venv_scratch two;
    struct error err = ERROR_INIT;

    assert_int_equal(venv_scratch_lock(&one, path, &err), OUTCOME_READY);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(venv_scratch_lock(&two, path, &err), OUTCOME_READY);
    assert_int_equal(access(path, F_OK), 0);
    venv_scratch_unlock(&one);
    venv_scratch_unlock(&two);
}

static void test_what_was_left_in_a_scratch_directory_is_still_there(void **state)
{
    AUTO_FREE char *path = memory_format("%s/new", (char *)*state);
    struct venv_scratch scratch;
    struct error err = ERROR_INIT;

    shell(*state, "mkdir -p new/half");
    assert_int_equal(venv_scratch_lock(&scratch, path, &err), OUTCOME_READY);
    assert_int_equal(count_entries(path), 1);
    venv_scratch_unlock(&scratch);
}

static void test_a_scratch_directory_that_is_none_is_an_error(void **state)
{
    AUTO_FREE char *path = memory_format("%s/new", (char *)*state);
    struct venv_scratch scratch = {0};
    struct error err = ERROR_INIT;

    shell(*state, "mkdir elsewhere; ln -s elsewhere new");
    assert_int_equal(venv_scratch_lock(&scratch, path, &err), OUTCOME_FAILED);
    assert_non_null(strstr(err.message, path));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_venv_of_ours_is_in_the_state_directory),
        TEST(test_a_venv_in_an_annex_is_ours),
        TEST(test_one_at_the_operators_path_is_made_beside_it),
        TEST(test_an_empty_directory_may_be_there),
        TEST(test_nothing_is_made_over_other_files),
        TEST(test_only_one_has_the_scratch_directory_at_a_time),
        TEST(test_a_scratch_directory_that_its_holder_removed_is_made_anew),
        TEST(test_what_was_left_in_a_scratch_directory_is_still_there),
        TEST(test_a_scratch_directory_that_is_none_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
