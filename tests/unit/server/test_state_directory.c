#include "server/state_directory.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* A scratch directory, and an environment in which no candidate but ours is set. */
static int set_up(void **state)
{
    char *scratch = memory_copy_string("/tmp/pyexecd-test-XXXXXX");

    assert_non_null(mkdtemp(scratch));
    unsetenv("STATE_DIRECTORY");
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", scratch, 1);
    *state = scratch;
    return 0;
}

static int tear_down(void **state)
{
    AUTO_FREE char *command = memory_format("rm -rf %s", (char *)*state);

    assert_int_equal(system(command), 0);
    free(*state);
    return 0;
}

static void assert_opens(const char *expected)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *path = state_directory_open(&err);
    struct stat status;

    assert_non_null(path);
    assert_string_equal(path, expected);
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
}

static void test_systemd_names_it_first(void **state)
{
    AUTO_FREE char *first = memory_format("%s/first", (char *)*state);
    AUTO_FREE char *both = memory_format("%s:/elsewhere", first);

    setenv("STATE_DIRECTORY", both, 1);
    assert_opens(first);
}

static void test_then_comes_the_one_of_the_desktop(void **state)
{
    AUTO_FREE char *directory = memory_format("%s/state", (char *)*state);
    AUTO_FREE char *expected = memory_format("%s/pyexecd", directory);

    setenv("XDG_STATE_HOME", directory, 1);
    assert_opens(expected);
}

static void test_then_the_one_at_home(void **state)
{
    AUTO_FREE char *expected = memory_format("%s/.local/state/pyexecd", (char *)*state);
    struct stat status;

    assert_opens(expected);
    assert_int_equal(stat(expected, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
}

static void test_a_relative_path_is_passed_over(void **state)
{
    AUTO_FREE char *expected = memory_format("%s/.local/state/pyexecd", (char *)*state);

    setenv("STATE_DIRECTORY", "state", 1);
    setenv("XDG_STATE_HOME", "state", 1);
    assert_opens(expected);
}

/* Where others may write, they could exchange what is in it. */
static void test_one_that_others_may_write_is_passed_over(void **state)
{
    AUTO_FREE char *open_to_all = memory_format("%s/open", (char *)*state);
    AUTO_FREE char *expected = memory_format("%s/.local/state/pyexecd", (char *)*state);

    assert_int_equal(mkdir(open_to_all, 0700), 0);
    assert_int_equal(chmod(open_to_all, 0777), 0);
    setenv("STATE_DIRECTORY", open_to_all, 1);
    assert_opens(expected);
}

/* systemd makes one for a dynamic user. */
static void test_a_link_of_the_operators_is_followed(void **state)
{
    AUTO_FREE char *link = memory_format("%s/link", (char *)*state);

    assert_int_equal(symlink(*state, link), 0);
    setenv("STATE_DIRECTORY", link, 1);
    assert_opens(*state); /* once: later no link is followed */
}

/* Anybody can put one there. */
static void test_a_link_in_tmp_is_refused(void **state)
{
    AUTO_FREE char *path = memory_format("/tmp/pyexecd-%u", geteuid());
    struct error err = ERROR_INIT;

    setenv("HOME", "/proc", 1);
    if (symlink(*state, path) < 0) { /* it is in use */
        free(STEAL_PTR(path));
        skip();
    }
    assert_null(state_directory_open(&err));
    assert_int_equal(unlink(path), 0);
    assert_non_null(strstr(err.message, "is not a directory"));
    assert_int_equal(err.code, ERROR_CONFIG); /* clients are told so by the exit code of a server */
}

static void test_without_a_home_it_is_in_tmp(void **state)
{
    AUTO_FREE char *expected = memory_format("/tmp/pyexecd-%u", geteuid());

    (void)state;
    setenv("HOME", "/proc", 1);
    assert_opens(expected);
    (void)rmdir(expected); /* unless it is in use */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_systemd_names_it_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_then_comes_the_one_of_the_desktop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_then_the_one_at_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_relative_path_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_others_may_write_is_passed_over, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_link_of_the_operators_is_followed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_link_in_tmp_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_a_home_it_is_in_tmp, set_up, tear_down),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
