/* Who gets a new working directory, on a disk with 100 bytes free, and what a directory counts that
 * nobody has measured at its end. */
#include "environments/workplace/disk_share.h"

#include "base/memory.h"
#include "environments/workplace/directory_deposit.h"
#include "environments/workplace/workplace_private.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/workplace/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static uint64_t free_bytes(int fd)
{
    (void)fd;
    return 100;
}

/* The survey that has begun, if one has, comes to its end. */
static void end_survey(struct site *site)
{
    alarm(100);
    while (ev_is_active(&site->workplace->survey.timer))
        ev_run(site->loop, EVRUN_ONCE);
    alarm(0);
}

/* A directory of alice's that takes BYTES. */
static struct working_directory *take(struct site *site, uint64_t bytes)
{
    struct working_directory *directory = open_directory_of(site->workplace, "alice", NULL);

    site->workplace->free_bytes = free_bytes;
    working_directory_note(directory, bytes);
    return directory;
}

/* Somebody else calls. */
static void call_as_bob(struct site *site)
{
    working_directory_unref(open_directory_of(site->workplace, "bob", NULL));
}

static void check_refused(struct site *site, const char *principal)
{
    struct error err = ERROR_INIT;

    assert_null(workplace_open(site->workplace, principal, ISOLATION_SANDBOX, NULL, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_string_equal(err.message,
                        "there is no new working directory for you: your working directories take "
                        "101 bytes, more than the 100 bytes that are free on their disk. Go on in "
                        "an earlier one (argument working_directory) and remove files there, or "
                        "wait until old ones are removed");
}

static void test_who_has_used_up_its_share_gets_no_new_directory(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = take(site, 101);

    call_as_bob(site);
    check_refused(site, "alice");
    call_as_bob(site);
    assert_true(working_directory_share(directory).is_used_up);
    working_directory_unref(
        open_directory_of(site->workplace, "alice", working_directory_handle(directory)));
    working_directory_note(directory, 100);
    working_directory_unref(open_directory_of(site->workplace, "alice", NULL));
    working_directory_unref(directory);
}

static void test_who_calls_alone_has_the_whole_disk(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = take(site, 1 << 30);

    working_directory_unref(open_directory_of(site->workplace, "alice", NULL));
    assert_false(working_directory_share(directory).is_used_up);
    working_directory_unref(directory);
}

static void test_a_configured_directory_has_no_share(void **state)
{
    struct site *site = *state;
    struct workplace *workplace = site_open_workplace(site, site->path, 0);
    struct working_directory *directory = open_directory_of(workplace, "alice", NULL);

    workplace->free_bytes = free_bytes;
    working_directory_unref(open_directory_of(workplace, "bob", NULL));
    working_directory_note(directory, 1 << 30);
    assert_false(working_directory_share(directory).is_used_up);
    working_directory_unref(directory);
    workplace_free(workplace);
}

static void test_a_directory_that_is_lent_has_no_share(void **state)
{
    struct site *site = *state;
    struct error err = ERROR_INIT;
    struct working_directory *directory;

    working_directory_unref(take(site, 101));
    call_as_bob(site);
    assert_int_equal(workplace_lend(site->workplace, site->scratch, NULL, &err), 0);
    directory = open_directory_of(site->workplace, "alice", NULL);
    assert_false(working_directory_share(directory).is_used_up);
    working_directory_unref(directory);
}

static void test_a_directory_that_has_been_removed_counts_no_more(void **state)
{
    struct site *site = *state;

    call_as_bob(site);
    workplace_set_keeping(site->workplace, 0);
    working_directory_unref(take(site, 101)); /* discarded at once */
    workplace_set_keeping(site->workplace, 3600);
    working_directory_unref(open_directory_of(site->workplace, "alice", NULL));
}

static void test_a_directory_that_somebody_else_has_removed_counts_until_a_sweep(void **state)
{
    struct site *site = *state;

    call_as_bob(site);
    working_directory_unref(take(site, 101));
    shell(site->root, "rm -rf p-none-alice");
    check_refused(site, "alice");
    sweep_hurry(site->workplace);
    alarm(100);
    while (disk_ledger_taken(&site->workplace->ledger, "alice") > 0)
        ev_run(site->loop, EVRUN_ONCE);
    alarm(0);
    working_directory_unref(open_directory_of(site->workplace, "alice", NULL));
}

/* The bytes of a directory of alice's in which somebody was at work, after COMMAND. */
static uint64_t surveyed(struct site *site, const char *command, bool is_measured)
{
    struct working_directory *directory = open_directory_of(site->workplace, "alice", NULL);
    struct directory_claim claim;
    uint64_t bytes;

    open_claim(&claim, directory, "");
    shell(working_directory_path(directory), command);
    claim.is_measured = is_measured;
    directory_claim_close(&claim);
    end_survey(site);
    bytes = working_directory_bytes(directory);
    working_directory_unref(directory);
    return bytes;
}

static void test_what_nobody_has_measured_is_surveyed(void **state)
{
    static const char fill[] = "mkdir a; dd if=/dev/zero of=a/b bs=1M count=3 2>/dev/null";
    struct site *site = *state;

    assert_int_equal(surveyed(site, fill, false), 0); /* alice is alone */
    call_as_bob(site);
    assert_int_equal(surveyed(site, fill, true), 0);
    assert_in_range(surveyed(site, fill, false), 3 << 20, 4 << 20);
    assert_in_range(surveyed(site, "touch $(seq 700)", false), 700 * 4096, 703 * 4096);
}

static void test_what_a_survey_cannot_see_is_taken_for_what_it_may_be(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = take(site, 1000);
    const struct disk_place place = working_directory_place(directory);

    shell(working_directory_path(directory), "mkdir -p $(printf 'd/%.0s' $(seq 1010))");
    disk_ledger_doubt(&site->workplace->ledger, &place, 1 << 30);
    disk_survey_start(site->workplace);
    end_survey(site);
    assert_int_equal(working_directory_bytes(directory), 1000 + (1 << 30));
    working_directory_unref(directory);
}

static void test_a_survey_that_is_going_ends_with_the_workplace(void **state)
{
    struct site *site = *state;
    struct working_directory *directory = open_directory_of(site->workplace, "alice", NULL);
    struct directory_claim claim;

    call_as_bob(site);
    open_claim(&claim, directory, "");
    directory_claim_close(&claim);
    working_directory_unref(directory);
    while (!site->workplace->survey.directory)
        ev_run(site->loop, EVRUN_ONCE);
}

static void test_what_the_server_puts_there_counts_and_ends_with_the_share(void **state)
{
    struct site *site = *state;
    struct error err = ERROR_INIT;
    struct working_directory *directory = take(site, 90);
    char *name = directory_deposit(directory, "output", "0123456789a", 11, &err);

    assert_non_null(name);
    free(name);
    assert_int_equal(working_directory_bytes(directory), 101);
    call_as_bob(site);
    assert_null(directory_deposit(directory, "output", "0", 1, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
    working_directory_unref(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_who_has_used_up_its_share_gets_no_new_directory),
        SITE_TEST(test_who_calls_alone_has_the_whole_disk),
        SITE_TEST(test_a_configured_directory_has_no_share),
        SITE_TEST(test_a_directory_that_is_lent_has_no_share),
        SITE_TEST(test_a_directory_that_has_been_removed_counts_no_more),
        SITE_TEST(test_a_directory_that_somebody_else_has_removed_counts_until_a_sweep),
        SITE_TEST(test_what_nobody_has_measured_is_surveyed),
        SITE_TEST(test_what_a_survey_cannot_see_is_taken_for_what_it_may_be),
        SITE_TEST(test_a_survey_that_is_going_ends_with_the_workplace),
        SITE_TEST(test_what_the_server_puts_there_counts_and_ends_with_the_share),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
