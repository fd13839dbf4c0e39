#include "environments/workplace/disk_ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct disk_place ALICE_1 = {"alice", ISOLATION_NONE, "1"};
static const struct disk_place ALICE_2 = {"alice", ISOLATION_DOCKER, "2"};
static const struct disk_place BOB_3 = {"bob", ISOLATION_NONE, "3"};
static const struct disk_place NOBODYS = {NULL, ISOLATION_NONE, "/configured"};

static void test_a_principal_has_what_its_directories_take_in_all_isolations(void **state)
{
    struct disk_ledger ledger;

    (void)state;
    disk_ledger_init(&ledger);
    disk_ledger_note(&ledger, &ALICE_1, 100);
    disk_ledger_note(&ledger, &ALICE_2, 20);
    disk_ledger_note(&ledger, &BOB_3, 3);
    disk_ledger_note(&ledger, &ALICE_1, 50); /* some of it has been removed */
    assert_int_equal(disk_ledger_bytes(&ledger, &ALICE_1), 50);
    assert_int_equal(disk_ledger_taken(&ledger, "alice"), 70);
    assert_int_equal(disk_ledger_taken(&ledger, "bob"), 3);
    assert_int_equal(disk_ledger_taken(&ledger, "carol"), 0);
    disk_ledger_deinit(&ledger);
}

static void test_a_directory_that_is_gone_takes_nothing(void **state)
{
    struct disk_ledger ledger;

    (void)state;
    disk_ledger_init(&ledger);
    disk_ledger_note(&ledger, &ALICE_1, 100);
    disk_ledger_note(&ledger, &ALICE_2, 20);
    disk_ledger_forget(&ledger, "1");
    disk_ledger_forget(&ledger, "unknown");
    assert_int_equal(disk_ledger_bytes(&ledger, &ALICE_1), 0);
    assert_int_equal(disk_ledger_taken(&ledger, "alice"), 20);
    disk_ledger_forget(&ledger, "2");
    assert_int_equal(disk_ledger_taken(&ledger, "alice"), 0);
    disk_ledger_deinit(&ledger);
}

static void test_a_configured_directory_counts_for_nobody(void **state)
{
    struct disk_ledger ledger;

    (void)state;
    disk_ledger_init(&ledger);
    disk_ledger_note(&ledger, &NOBODYS, 100);
    disk_ledger_doubt(&ledger, &NOBODYS, 100);
    assert_int_equal(disk_ledger_bytes(&ledger, &NOBODYS), 0);
    disk_ledger_deinit(&ledger);
}

static void test_one_principal_is_not_several_however_often_it_calls(void **state)
{
    struct disk_ledger ledger;

    (void)state;
    disk_ledger_init(&ledger);
    disk_ledger_meet(&ledger, "alice");
    disk_ledger_meet(&ledger, "alice");
    assert_false(ledger.are_several);
    disk_ledger_meet(&ledger, "bob");
    disk_ledger_meet(&ledger, "alice");
    assert_true(ledger.are_several);
    disk_ledger_deinit(&ledger);
}

static void test_what_a_look_has_not_seen_is_forgotten(void **state)
{
    struct disk_ledger ledger;

    (void)state;
    disk_ledger_init(&ledger);
    disk_ledger_note(&ledger, &ALICE_1, 100);
    disk_ledger_note(&ledger, &ALICE_2, 20);
    disk_ledger_begin_look(&ledger);
    disk_ledger_see(&ledger, "2");
    disk_ledger_see(&ledger, "of somebody who has not called");
    disk_ledger_note(&ledger, &BOB_3, 3); /* made where the look has been already */
    disk_ledger_end_look(&ledger);
    assert_int_equal(disk_ledger_taken(&ledger, "alice"), 20);
    assert_int_equal(disk_ledger_taken(&ledger, "bob"), 3);
    disk_ledger_deinit(&ledger);
}

static void test_what_is_doubted_is_told_once_and_not_when_it_is_gone(void **state)
{
    struct disk_ledger ledger;
    struct disk_place place;
    uint64_t more;

    (void)state;
    disk_ledger_init(&ledger);
    assert_false(disk_ledger_take_doubted(&ledger, &place, &more));
    disk_ledger_doubt(&ledger, &ALICE_1, 10);
    disk_ledger_doubt(&ledger, &ALICE_2, 5);
    disk_ledger_doubt(&ledger, &ALICE_2, 7);
    disk_ledger_doubt(&ledger, &ALICE_2, 6);
    disk_ledger_forget(&ledger, "1");
    assert_true(disk_ledger_take_doubted(&ledger, &place, &more));
    assert_string_equal(place.principal, "alice");
    assert_string_equal(place.handle, "2");
    assert_int_equal(place.isolation, ISOLATION_DOCKER);
    assert_int_equal(more, 7);
    assert_false(disk_ledger_take_doubted(&ledger, &place, &more));
    disk_ledger_deinit(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_principal_has_what_its_directories_take_in_all_isolations),
        cmocka_unit_test(test_a_directory_that_is_gone_takes_nothing),
        cmocka_unit_test(test_a_configured_directory_counts_for_nobody),
        cmocka_unit_test(test_one_principal_is_not_several_however_often_it_calls),
        cmocka_unit_test(test_what_a_look_has_not_seen_is_forgotten),
        cmocka_unit_test(test_what_is_doubted_is_told_once_and_not_when_it_is_gone),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
