#include "environments/workplace/working_directory.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/workplace/site.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static void test_directories_are_private_and_have_unguessable_handles(void **state)
{
    struct site *site = *state;
    struct working_directory *a = site_open_directory(site);
    struct working_directory *b = site_open_directory(site);

    assert_int_equal(strlen(working_directory_handle(a)), 32);
    assert_int_equal(strspn(working_directory_handle(a), "0123456789abcdef"), 32);
    assert_string_not_equal(working_directory_handle(a), working_directory_handle(b));
    assert_int_equal(mode_of(working_directory_path(a)), 0700);
    working_directory_unref(a);
    working_directory_unref(b);
}

static void test_a_handle_opens_the_same_directory_again(void **state)
{
    struct site *site = *state;
    struct working_directory *a = site_open_directory(site);
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(a));
    AUTO_FREE char *path = memory_copy_string(working_directory_path(a));
    struct working_directory *b = open_directory_of(site->workplace, "tester", handle);

    assert_ptr_equal(a, b);
    working_directory_unref(a);
    working_directory_unref(b);
    workplace_free(site->workplace); /* another server later */
    site->workplace = site_open_workplace(site, NULL, 3600);
    a = open_directory_of(site->workplace, "tester", handle);
    assert_string_equal(working_directory_path(a), path);
    working_directory_unref(a);
}

static void test_a_handle_is_nobody_elses_and_nothing_else(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(directory));
    AUTO_FREE char *upward = memory_format("../p-none-tester/%s", handle);
    const char *const wrong[] = {
        "",
        ".",
        "..",
        "/",
        upward,
        "../../etc",
        "00000000000000000000000000000000",
        "ABCDEFABCDEFABCDEFABCDEFABCDEFAB",
        "0123456789abcdef",
        "x",
    };
    struct error err = ERROR_INIT;

    assert_null(workplace_open(site->workplace, "somebody", ISOLATION_NONE, handle, &err));
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct error wrong_err = ERROR_INIT;

        assert_null(
            workplace_open(site->workplace, "tester", ISOLATION_NONE, wrong[i], &wrong_err));
        assert_int_equal(wrong_err.code, ERROR_INVALID_ARGUMENTS);
    }
    working_directory_unref(directory);
}

static void test_no_principal_leads_out_of_the_root(void **state)
{
    static const char *const names[] = {"",         ".",    "..", "../x", "a/b",  "a%b",
                                        "uid:1000", "\xFF", "*",  " ",    "a_2fb"};
    struct site *site = *state;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct working_directory *directory = open_directory_of(site->workplace, names[i], NULL);
        AUTO_FREE char *resolved = realpath(working_directory_path(directory), NULL);

        assert_string_equal(resolved, working_directory_path(directory));
        assert_int_equal(strncmp(resolved, site->root, strlen(site->root)), 0);
        working_directory_unref(directory);
    }
    assert_int_equal(count_entries(site->root), 1 + ARRAY_SIZE(names));
}

static void test_a_directory_is_for_runs_of_its_isolation(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(directory));
    struct error held = ERROR_INIT;
    struct error left = ERROR_INIT;
    struct error unknown = ERROR_INIT;

    assert_null(workplace_open(site->workplace, "tester", ISOLATION_DOCKER, handle, &held));
    assert_int_equal(held.code, ERROR_INVALID_ARGUMENTS);
    assert_non_null(strstr(held.message, "for environments with isolation \"none\""));
    working_directory_unref(directory);
    workplace_free(site->workplace); /* another server later */
    site->workplace = site_open_workplace(site, NULL, 3600);
    assert_null(workplace_open(site->workplace, "tester", ISOLATION_DOCKER, handle, &left));
    assert_non_null(strstr(left.message, "for environments with isolation \"none\""));
    assert_null(workplace_open(site->workplace, "other", ISOLATION_DOCKER, handle, &unknown));
    assert_non_null(strstr(unknown.message, "there is no such working directory"));
    working_directory_unref(open_directory_of(site->workplace, "tester", handle));
}

/* Another server, at the moment when it puts a script there. */
static void *hold_lock(void *data)
{
    const struct timespec moment = {.tv_nsec = 300 * 1000};
    int *fd = data;

    nanosleep(&moment, NULL);
    close(*fd);
    return NULL;
}

static bool is_waited_for(struct workplace *workplace, const char *path, const char *handle)
{
    struct error err = ERROR_INIT;
    struct working_directory *directory;
    int fd = open_directory(path);
    pthread_t holder;

    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(pthread_create(&holder, NULL, hold_lock, &fd), 0);
    directory = workplace_open(workplace, "tester", ISOLATION_NONE, handle, &err);
    assert_int_equal(pthread_join(holder, NULL), 0);
    if (directory)
        working_directory_unref(directory);
    return directory;
}

/* On a busy machine the moment may be too long. */
static void test_the_moment_of_another_servers_lock_is_waited_for(void **state)
{
    struct site *site = *state;
    struct workplace *other = site_open_workplace(site, NULL, 3600);
    struct working_directory *directory = site_open_directory(site);
    AUTO_FREE char *path = memory_copy_string(working_directory_path(directory));
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(directory));
    bool was = false;

    working_directory_unref(directory);
    for (int i = 0; i < 50 && !was; i++)
        was = is_waited_for(other, path, handle);
    workplace_free(other);
    assert_true(was);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_directories_are_private_and_have_unguessable_handles),
        SITE_TEST(test_a_handle_opens_the_same_directory_again),
        SITE_TEST(test_a_handle_is_nobody_elses_and_nothing_else),
        SITE_TEST(test_no_principal_leads_out_of_the_root),
        SITE_TEST(test_a_directory_is_for_runs_of_its_isolation),
        SITE_TEST(test_the_moment_of_another_servers_lock_is_waited_for),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
