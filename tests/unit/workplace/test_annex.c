#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/workplace/working_directory.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/workplace/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void open_annexes(struct site *site, struct workplace *workplace)
{
    AUTO_FREE char *root = memory_format("%s/packages", site->scratch);
    struct error err = ERROR_INIT;

    assert_int_equal(workplace_open_annexes(workplace, root, &err), 0);
}

/* The annex of DIRECTORY; owned. */
static char *annex_of(struct working_directory *directory)
{
    const char *annex = working_directory_annex(directory);

    assert_non_null(annex);
    assert_int_equal(mode_of(annex), 0755);
    return memory_copy_string(annex);
}

static void test_a_directory_has_no_annex_unless_there_are_some(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);

    assert_null(working_directory_annex(directory));
    working_directory_unref(directory);
}

static void test_a_directory_keeps_its_annex_while_nobody_uses_it(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(directory));
    AUTO_FREE char *annex = NULL;
    AUTO_FREE char *later = NULL;
    struct stat before;
    struct stat after;

    open_annexes(site, site->workplace);
    annex = annex_of(directory);
    assert_int_equal(stat(annex, &before), 0);
    working_directory_unref(directory);
    directory = open_directory_of(site->workplace, "tester", handle);
    later = annex_of(directory);
    assert_string_equal(annex, later);
    assert_int_equal(stat(annex, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    working_directory_unref(directory);
}

static void test_two_directories_have_two(void **state)
{
    struct site *site = *state;
    struct working_directory *one = site_open_directory(site);
    struct working_directory *other = site_open_directory(site);

    open_annexes(site, site->workplace);
    assert_string_not_equal(working_directory_annex(one), working_directory_annex(other));
    working_directory_unref(one);
    working_directory_unref(other);
}

static void test_a_part_of_an_annex_is_removed(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    AUTO_FREE char *annex = NULL;
    AUTO_FREE char *part = NULL;
    AUTO_FREE char *other = NULL;

    open_annexes(site, site->workplace);
    annex = annex_of(directory);
    part = memory_format("%s/part", annex);
    other = memory_format("%s/other", annex);
    assert_int_equal(mkdir(part, 0755), 0);
    assert_int_equal(mkdir(other, 0755), 0);
    working_directory_clear_annex(directory, "part");
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    working_directory_unref(directory);
}

static void test_a_directory_that_is_removed_takes_its_annex_along(void **state)
{
    struct site *site = *state;
    struct working_directory *directory;
    AUTO_FREE char *annex = NULL;

    open_annexes(site, site->workplace);
    workplace_set_keeping(site->workplace, 0);
    directory = site_open_directory(site);
    annex = annex_of(directory);
    working_directory_unref(directory);
    assert_int_equal(access(annex, F_OK), -1);
}

static void test_the_configured_directory_has_one(void **state)
{
    struct site *site = *state;
    struct workplace *workplace = site_open_workplace(site, site->path, 3600);
    struct working_directory *directory = open_directory_of(workplace, "tester", NULL);
    AUTO_FREE char *annex = NULL;

    open_annexes(site, workplace);
    annex = annex_of(directory);
    working_directory_unref(directory);
    workplace_free(workplace);
    assert_int_equal(access(annex, F_OK), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SITE_TEST(test_a_directory_has_no_annex_unless_there_are_some),
        SITE_TEST(test_a_directory_keeps_its_annex_while_nobody_uses_it),
        SITE_TEST(test_two_directories_have_two),
        SITE_TEST(test_a_part_of_an_annex_is_removed),
        SITE_TEST(test_a_directory_that_is_removed_takes_its_annex_along),
        SITE_TEST(test_the_configured_directory_has_one),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
