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
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void test_a_run_alone_has_its_code_in_script_py(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim claim;

    for (int delivery = SCRIPT_IN_PLACE; delivery <= SCRIPT_IN_FILE; delivery++) {
        open_claim_as(&claim, directory, (enum script_delivery)delivery, "print(1)");
        assert_script(directory, "print(1)");
        assert_int_equal(mode_of(claim.script), 0600);
        directory_claim_close(&claim);
        assert_script(directory, "print(1)");
        open_claim_as(&claim, directory, (enum script_delivery)delivery, "longer(2)");
        assert_script(directory, "longer(2)");
        directory_claim_close(&claim);
    }
    assert_int_equal(count_entries(working_directory_path(directory)), 1);
    working_directory_unref(directory);
}

static void test_who_asks_for_a_private_file_gets_a_place_for_one(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim claims[2];
    AUTO_FREE char *file = NULL;

    open_claim_as(&claims[0], directory, SCRIPT_LAID_OVER, "first");
    assert_null(claims[0].file);
    open_claim_as(&claims[1], directory, SCRIPT_IN_FILE, "second");
    assert_int_equal(access(claims[1].file, F_OK), -1);
    write_text(claims[1].file, "second");
    file = memory_copy_string(claims[1].file);
    directory_claim_close(&claims[1]);
    assert_int_equal(access(file, F_OK), -1);
    directory_claim_close(&claims[0]);
    working_directory_unref(directory);
}

static void test_overlapping_runs_leave_script_py_alone(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim claims[3];

    open_claim(&claims[0], directory, "first");
    open_claim(&claims[1], directory, "second");
    open_claim(&claims[2], directory, "third");
    assert_string_equal(claims[1].script, claims[0].script);
    directory_claim_close(&claims[0]);
    directory_claim_close(&claims[2]);
    assert_script(directory, "first");
    directory_claim_close(&claims[1]);
    assert_script(directory, "third"); /* the newest call's, whoever ended last */
    working_directory_unref(directory);
}

/* To replace script.py would uncover it where a container that is kept has its code over it. */
static void test_script_py_stays_the_same_file_from_call_to_call(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    AUTO_FREE char *path = memory_format("%s/script.py", working_directory_path(directory));
    struct stat before;

    for (int i = 0; i < 3; i++) {
        AUTO_FREE char *code = memory_format("code %d", i);
        struct directory_claim claim;
        struct directory_claim second;
        struct stat after;

        open_claim(&claim, directory, code);
        open_claim(&second, directory, "later");
        directory_claim_close(&claim);
        directory_claim_close(&second);
        assert_script(directory, "later");
        assert_int_equal(stat(path, &after), 0);
        if (i > 0)
            assert_int_equal(after.st_ino, before.st_ino);
        before = after;
    }
    working_directory_unref(directory);
}

static void test_busy_means_that_a_run_would_have_to_wait(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim claim;

    assert_false(working_directory_is_busy(directory, false));
    open_claim(&claim, directory, "1");
    assert_true(working_directory_is_busy(directory, false));
    assert_false(working_directory_is_busy(directory, true));
    directory_claim_close(&claim);
    open_claim_as(&claim, directory, SCRIPT_IN_PLACE, "2");
    assert_true(working_directory_is_busy(directory, true));
    directory_claim_close(&claim);
    assert_false(working_directory_is_busy(directory, false));
    working_directory_unref(directory);
}

/* What a script may have made of script.py before the next call. */
static const char *const planted[] = {
    "rm script.py; ln -s ../../../victim script.py",
    "rm script.py; ln -s nowhere script.py",
    "rm script.py; mkdir script.py; touch script.py/data",
    "rm script.py; mkfifo script.py",
    "rm script.py; ln ../../../victim script.py",
    "chmod 0 script.py",
    "rm script.py",
};

static void plant(struct site *site, struct working_directory *directory, const char *command)
{
    AUTO_FREE char *victim = memory_format("%s/state/victim", site->scratch);

    write_text(victim, "untouched");
    shell(working_directory_path(directory), command);
}

static void assert_victim(struct site *site)
{
    AUTO_FREE char *victim = memory_format("%s/state/victim", site->scratch);
    AUTO_FREE char *text = read_text(victim);

    assert_string_equal(text, "untouched");
}

static void check_planted(struct site *site, enum script_delivery delivery)
{
    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        struct working_directory *directory = site_open_directory(site);
        struct directory_claim claim;

        open_claim_as(&claim, directory, delivery, "old");
        plant(site, directory, planted[i]);
        directory_claim_close(&claim);
        open_claim_as(&claim, directory, delivery, "new");
        assert_script(directory, "new");
        assert_victim(site);
        directory_claim_close(&claim);
        working_directory_unref(directory);
    }
}

static void test_a_planted_script_py_is_replaced_not_followed(void **state)
{
    check_planted(*state, SCRIPT_IN_PLACE);
    check_planted(*state, SCRIPT_LAID_OVER);
}

/* The same while the run that did it is still going. */
static void test_code_always_has_a_file_to_be_laid_over(void **state)
{
    struct site *site = *state;

    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        struct working_directory *directory = site_open_directory(site);
        struct directory_claim first;
        struct directory_claim second;
        struct stat status;

        open_claim(&first, directory, "old");
        plant(site, directory, planted[i]);
        open_claim(&second, directory, "new");
        assert_int_equal(lstat(second.script, &status), 0);
        assert_true(S_ISREG(status.st_mode));
        assert_victim(site);
        directory_claim_close(&first);
        directory_claim_close(&second);
        assert_script(directory, "new");
        assert_victim(site);
        working_directory_unref(directory);
    }
}

static void test_a_directory_named_script_py_keeps_what_is_in_it(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim claim;

    shell(working_directory_path(directory), "mkdir script.py; echo data >script.py/kept");
    open_claim(&claim, directory, "code");
    shell(working_directory_path(directory), "test \"$(cat script.py.*/kept)\" = data");
    directory_claim_close(&claim);
    working_directory_unref(directory);
}

/* What a script may do to its own directory. */
static void test_a_directory_that_is_gone_or_closed_is_usable_again(void **state)
{
    static const char *const commands[] = {
        "rm script.py; rmdir ../$(basename $PWD)",
        "mv ../$(basename $PWD) ../moved",
        "d=$PWD; mv $d ../moved2; ln -s /etc $d",
        "d=$PWD; mv $d ../moved3; : >$d",
        "chmod 0 .",
        "d=$(dirname $PWD); mv $d $d-moved",
        "d=$(dirname $PWD); mv $d $d-linked; ln -s $d-linked $d",
        "chmod 0 ..",
        "chmod 0 ../..",
        "rm -r $(dirname $(dirname $PWD))",
        "d=$(dirname $(dirname $PWD)); mv $d $d-moved",
    };
    struct site *site = *state;

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        struct working_directory *directory = site_open_directory(site);
        struct directory_claim claim;

        open_claim(&claim, directory, "old");
        shell(working_directory_path(directory), commands[i]);
        directory_claim_close(&claim);
        open_claim(&claim, directory, "new");
        assert_script(directory, "new");
        shell(working_directory_path(directory), "test ! -L $(dirname $(pwd -L))");
        directory_claim_close(&claim);
        working_directory_unref(directory);
    }
    assert_int_equal(access("/etc/script.py", F_OK), -1);
}

static void test_private_files_and_the_root_stay_private_whatever_was_done_to_them(void **state)
{
    static const char *const commands[] = {"rm -r private-*", "chmod 0 private-*", "chmod 755 ."};
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        struct directory_claim first;
        struct directory_claim second;

        shell(site->root, commands[i]);
        open_claim(&first, directory, "1");
        open_claim(&second, directory, "2");
        write_text(second.file, "2");
        assert_int_equal(mode_of(site->root), 0700);
        directory_claim_close(&first);
        directory_claim_close(&second);
    }
    working_directory_unref(directory);
}

static void test_a_claim_without_a_script_leaves_the_one_that_is_there(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim first;
    struct directory_claim second;
    struct error err = ERROR_INIT;

    open_claim(&first, directory, "first");
    directory_claim_close(&first);
    assert_int_equal(directory_claim_open(&second, directory, SCRIPT_LAID_OVER, &err), 0);
    assert_null(second.script);
    assert_true(working_directory_is_busy(directory, false));
    assert_script(directory, "first");
    directory_claim_close(&second);
    assert_false(working_directory_is_busy(directory, false));
    assert_script(directory, "first");
    working_directory_unref(directory);
}

static void test_a_claim_that_failed_to_open_can_be_closed(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim claim;
    struct error err = ERROR_INIT;

    shell(site->scratch, "rm -r state; : >state"); /* nothing can be made there */
    assert_int_equal(directory_claim_open(&claim, directory, SCRIPT_LAID_OVER, &err), -1);
    directory_claim_close(&claim);
    working_directory_unref(directory);
}

/* Two programs that were started with the same configuration */

static void test_servers_that_share_a_directory_do_not_rename_under_each_other(void **state)
{
    struct site *site = *state;
    struct workplace *one = site_open_workplace(site, site->path, 3600);
    struct workplace *two = site_open_workplace(site, site->path, 3600);
    struct working_directory *a = open_directory_of(one, "x", NULL);
    struct working_directory *b = open_directory_of(two, "x", NULL);
    struct directory_claim first;
    struct directory_claim second;
    struct directory_claim third;

    open_claim(&first, a, "first");
    open_claim(&second, b, "second");
    assert_script(a, "first");
    directory_claim_close(&first);
    assert_script(a, "first");
    open_claim(&third, a, "third");
    assert_script(a, "first");
    directory_claim_close(&second);
    directory_claim_close(&third);
    assert_script(a, "third");
    open_claim(&first, b, "alone");
    assert_script(a, "alone");
    directory_claim_close(&first);
    working_directory_unref(a);
    working_directory_unref(b);
    workplace_free(one);
    workplace_free(two);
}

/* Who executes script.py itself shares the directory with nobody. */
static void test_servers_do_not_share_a_directory_whose_script_py_is_executed(void **state)
{
    struct site *site = *state;
    struct workplace *one = site_open_workplace(site, site->path, 3600);
    struct workplace *two = site_open_workplace(site, site->path, 3600);
    struct working_directory *a = open_directory_of(one, "x", NULL);
    struct working_directory *b = open_directory_of(two, "x", NULL);
    struct error late = ERROR_INIT;
    struct error early = ERROR_INIT;
    struct directory_claim first;
    struct directory_claim second;

    open_claim_as(&first, a, SCRIPT_IN_PLACE, "first");
    assert_int_equal(directory_claim_open(&second, b, SCRIPT_LAID_OVER, &late), -1);
    assert_int_equal(late.code, ERROR_BUSY);
    directory_claim_close(&first);
    open_claim_as(&first, a, SCRIPT_LAID_OVER, "first");
    assert_int_equal(directory_claim_open(&second, b, SCRIPT_IN_PLACE, &early), 0);
    assert_int_equal(directory_claim_write(&second, "second", 6, &early), -1);
    assert_int_equal(early.code, ERROR_BUSY);
    assert_script(a, "first");
    directory_claim_close(&second);
    directory_claim_close(&first);
    working_directory_unref(a);
    working_directory_unref(b);
    workplace_free(one);
    workplace_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_a_run_alone_has_its_code_in_script_py),
        SITE_TEST(test_who_asks_for_a_private_file_gets_a_place_for_one),
        SITE_TEST(test_overlapping_runs_leave_script_py_alone),
        SITE_TEST(test_script_py_stays_the_same_file_from_call_to_call),
        SITE_TEST(test_busy_means_that_a_run_would_have_to_wait),
        SITE_TEST(test_a_planted_script_py_is_replaced_not_followed),
        SITE_TEST(test_code_always_has_a_file_to_be_laid_over),
        SITE_TEST(test_a_directory_named_script_py_keeps_what_is_in_it),
        SITE_TEST(test_a_directory_that_is_gone_or_closed_is_usable_again),
        SITE_TEST(test_private_files_and_the_root_stay_private_whatever_was_done_to_them),
        SITE_TEST(test_a_claim_without_a_script_leaves_the_one_that_is_there),
        SITE_TEST(test_a_claim_that_failed_to_open_can_be_closed),
        SITE_TEST(test_servers_that_share_a_directory_do_not_rename_under_each_other),
        SITE_TEST(test_servers_do_not_share_a_directory_whose_script_py_is_executed),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
