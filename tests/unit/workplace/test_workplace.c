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
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void test_the_root_is_private(void **state)
{
    struct site *site = *state;

    assert_int_equal(mode_of(site->root), 0700);
}

static void test_a_root_open_to_others_is_refused(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *root = memory_format("%s/open", site->scratch);
    AUTO_FREE char *link = memory_format("%s/link", site->scratch);
    struct workplace_settings settings = {.loop = site->loop, .root = root};
    struct error open_err = ERROR_INIT;
    struct error link_err = ERROR_INIT;

    assert_int_equal(mkdir(root, 0700), 0);
    assert_int_equal(chmod(root, 0710), 0);
    assert_null(workplace_new(&settings, &open_err));
    assert_non_null(strstr(open_err.message, "chmod 700"));
    assert_int_equal(symlink(site->root, link), 0);
    settings.root = link;
    assert_null(workplace_new(&settings, &link_err));
}

static void test_nothing_of_a_server_is_left_but_directories(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim first;
    struct directory_claim second;

    open_claim(&first, directory, "1");
    open_claim(&second, directory, "2");
    directory_claim_close(&first);
    directory_claim_close(&second);
    working_directory_unref(directory);
    workplace_free(site->workplace);
    shell(site->root,
          "test \"$(ls)\" = \"$(printf 'p-none-tester\\ntrash')\"; test -z \"$(ls trash)\"");
    site->workplace = NULL;
}

static void test_a_link_in_the_place_of_the_root_is_removed_and_not_followed(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim claim;

    shell(site->scratch,
          "mkdir -m 700 elsewhere; mv state/root moved; ln -s ../elsewhere state/root");
    open_claim(&claim, directory, "1");
    directory_claim_close(&claim);
    shell(site->scratch, "test -z \"$(ls -A elsewhere)\"; test -d state/root -a ! -L state/root");
    working_directory_unref(directory);
}

static void test_a_link_above_the_root_is_an_error(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = site_open_directory(site);
    struct directory_claim claim;
    struct error err = ERROR_INIT;

    shell(site->scratch, "mv state moved; mkdir -p -m 700 elsewhere/root; ln -s elsewhere state");
    assert_int_equal(directory_claim_open(&claim, directory, SCRIPT_LAID_OVER, &err), -1);
    directory_claim_close(&claim);
    shell(site->scratch, "test -z \"$(ls -A elsewhere/root)\"");
    working_directory_unref(directory);
}

/* One configured directory */

static void test_a_configured_directory_is_every_callers(void **state)
{
    struct site *site = *state;
    struct workplace *workplace = site_open_workplace(site, site->path, 0);
    struct working_directory *a = open_directory_of(workplace, "a", NULL);
    struct working_directory *b = open_directory_of(workplace, "b", "whatever");

    assert_ptr_equal(a, b);
    assert_string_equal(working_directory_path(a), site->path);
    working_directory_unref(a);
    working_directory_unref(b);
    workplace_free(workplace);
    assert_int_equal(access(site->path, F_OK), 0); /* never removed */
}

static void test_a_configured_directory_is_only_for_the_isolation_it_is_configured_for(void **state)
{
    struct site *site = *state;
    struct workplace *workplace = site_open_workplace(site, site->path, 0);
    struct working_directory *directory;
    struct error err = ERROR_INIT;
    struct error ignored = ERROR_INIT;

    assert_null(workplace_open(workplace, "a", ISOLATION_DOCKER, NULL, &err));
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    assert_non_null(strstr(err.message, "not for environments with isolation \"docker\""));
    workplace_set_isolations(workplace, 1U << ISOLATION_NONE | 1U << ISOLATION_DOCKER);
    directory = workplace_open(workplace, "a", ISOLATION_DOCKER, NULL, &ignored);
    assert_non_null(directory);
    working_directory_unref(directory);
    workplace_free(workplace);
}

static void test_a_link_on_the_way_to_the_configured_directory_is_an_error(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *path = memory_format("%s/way/configured", site->scratch);
    struct workplace *workplace = site_open_workplace(site, path, 0);
    struct working_directory *directory = open_directory_of(workplace, "a", NULL);
    struct directory_claim claim;
    struct error err = ERROR_INIT;

    shell(site->scratch, "mv way moved; mkdir -p elsewhere/configured; ln -s elsewhere way");
    assert_int_equal(directory_claim_open(&claim, directory, SCRIPT_LAID_OVER, &err), -1);
    directory_claim_close(&claim);
    working_directory_unref(directory);
    workplace_free(workplace);
}

static void test_a_path_that_cannot_be_worked_in_is_an_error(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *file = memory_format("%s/file", site->scratch);
    AUTO_FREE char *below = memory_format("%s/below", file);
    struct error err = ERROR_INIT;

    write_text(file, "");
    assert_null(workplace_new(
        &(struct workplace_settings){.loop = site->loop, .root = site->root, .path = below}, &err));
    assert_non_null(strstr(err.message, file));
}

/* A directory that is lent */

static void lend(struct site *site, const char *script)
{
    struct error err = ERROR_INIT;

    (void)mkdir(site->path, 0700);
    if (workplace_lend(site->workplace, site->path, script, &err) < 0)
        fail_msg("%s", err.message);
}

/* Each delivery of a script in a lent directory, where only OWN is: that stays, and nothing more.
 */
static void check_lent(struct site *site, const char *own,
                       void (*check_script)(const char *script, const char *own))
{
    struct working_directory *directory = site_open_directory(site);

    write_text(own, "the user's");
    for (int delivery = SCRIPT_IN_PLACE; delivery <= SCRIPT_IN_FILE; delivery++) {
        AUTO_FREE char *text = NULL;
        struct directory_claim claim;

        open_claim_as(&claim, directory, (enum script_delivery)delivery, "print(1)");
        check_script(claim.script, own);
        assert_int_equal(claim.file != NULL, delivery == SCRIPT_IN_FILE);
        directory_claim_close(&claim);
        text = read_text(own);
        assert_string_equal(text, "the user's");
        assert_int_equal(count_entries(site->path), 1);
    }
    working_directory_unref(directory);
}

static void check_is_the_code(const char *script, const char *own)
{
    AUTO_FREE char *text = read_text(script);

    assert_string_equal(text, "print(1)");
    assert_string_not_equal(script, own);
}

static void test_a_run_in_a_lent_directory_leaves_nothing_and_takes_nothing(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *own = memory_format("%s/script.py", site->path);

    lend(site, NULL);
    check_lent(site, own, check_is_the_code);
}

static void check_is_the_users(const char *script, const char *own)
{
    assert_string_equal(script, own);
}

static void test_the_users_own_script_stands_for_the_code(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *own = memory_format("%s/mine.py", site->path);

    lend(site, own);
    check_lent(site, own, check_is_the_users);
}

static void test_a_script_that_is_a_part_of_the_code_is_not_executed_in_place(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *own = memory_format("%s/mine.py", site->path);
    struct working_directory *directory;

    lend(site, own);
    workplace_extend_script(site->workplace);
    write_text(own, "the user's");
    directory = site_open_directory(site);
    for (int delivery = SCRIPT_IN_PLACE; delivery <= SCRIPT_IN_FILE; delivery++) {
        struct directory_claim claim;

        open_claim_as(&claim, directory, (enum script_delivery)delivery, "print(1)");
        if (delivery == SCRIPT_IN_PLACE)
            check_is_the_code(claim.script, own);
        else
            check_is_the_users(claim.script, own);
        directory_claim_close(&claim);
    }
    assert_int_equal(count_entries(site->path), 1);
    working_directory_unref(directory);
}

static void test_a_lent_directory_is_for_every_isolation_and_must_be_there(void **state)
{
    struct site *site = *state;
    struct working_directory *directory;
    struct error err = ERROR_INIT;

    assert_int_equal(workplace_lend(site->workplace, site->path, NULL, &err), -1);
    assert_int_equal(access(site->path, F_OK), -1);
    error_clear(&err);
    assert_int_equal(workplace_lend(site->workplace, "/", NULL, &err), -1);
    error_clear(&err);
    lend(site, NULL);
    directory = workplace_open(site->workplace, "tester", ISOLATION_DOCKER, NULL, &err);
    assert_non_null(directory);
    working_directory_unref(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_the_root_is_private),
        SITE_TEST(test_a_root_open_to_others_is_refused),
        SITE_TEST(test_nothing_of_a_server_is_left_but_directories),
        SITE_TEST(test_a_link_in_the_place_of_the_root_is_removed_and_not_followed),
        SITE_TEST(test_a_link_above_the_root_is_an_error),
        SITE_TEST(test_a_link_on_the_way_to_the_configured_directory_is_an_error),
        SITE_TEST(test_a_configured_directory_is_every_callers),
        SITE_TEST(test_a_configured_directory_is_only_for_the_isolation_it_is_configured_for),
        SITE_TEST(test_a_run_in_a_lent_directory_leaves_nothing_and_takes_nothing),
        SITE_TEST(test_the_users_own_script_stands_for_the_code),
        SITE_TEST(test_a_script_that_is_a_part_of_the_code_is_not_executed_in_place),
        SITE_TEST(test_a_lent_directory_is_for_every_isolation_and_must_be_there),
        SITE_TEST(test_a_path_that_cannot_be_worked_in_is_an_error),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
