#include "environments/process/waiting.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* What waits here is bread: it is baked for a customer, and given to the birds. */

struct bread {
    struct waiting waiting;
    bool was_ended;
};

struct customer {
    struct expectation expectation;
    struct bakery *bakery;
};

struct bakery {
    struct waiting_room room;
    struct customer customers[2];
    struct bread breads[16];
    unsigned count;
    bool is_broken;
};

static struct waiting *bake(struct expectation *expectation)
{
    struct bakery *bakery = CONTAINER_OF(expectation, struct customer, expectation)->bakery;
    struct bread *bread;

    if (bakery->is_broken)
        return NULL;
    assert_true(bakery->count < ARRAY_SIZE(bakery->breads));
    bread = &bakery->breads[bakery->count++];
    waiting_init(&bread->waiting);
    return &bread->waiting;
}

static void give_away(struct waiting *waiting)
{
    struct bread *bread = CONTAINER_OF(waiting, struct bread, waiting);

    assert_true(list_is_empty(&waiting->link));
    assert_false(bread->was_ended);
    bread->was_ended = true;
}

static const struct waiting_rules rules = {
    .most = 6, .memory = 100, .make = bake, .end = give_away};

static int set_up(void **state)
{
    static struct bakery bakery;

    bakery = (struct bakery){0};
    waiting_room_init(&bakery.room, &rules);
    for (size_t i = 0; i < ARRAY_SIZE(bakery.customers); i++)
        bakery.customers[i] = (struct customer){.expectation.wanted = 1, .bakery = &bakery};
    *state = &bakery;
    return 0;
}

static void expect_waiting(const struct bakery *bakery, unsigned first, unsigned second)
{
    assert_int_equal(waiting_room_count(&bakery->room, &bakery->customers[0].expectation), first);
    assert_int_equal(waiting_room_count(&bakery->room, &bakery->customers[1].expectation), second);
    assert_int_equal(waiting_room_sum(&bakery->room).count, first + second);
}

static bool restock(struct bakery *bakery, unsigned customer, double now)
{
    return waiting_room_restock(&bakery->room, &bakery->customers[customer].expectation, now);
}

static struct waiting *take(struct bakery *bakery, unsigned customer, double now)
{
    return waiting_room_take(&bakery->room, &bakery->customers[customer].expectation, now);
}

static void test_as_many_are_made_as_are_wanted(void **state)
{
    struct bakery *bakery = *state;

    assert_true(restock(bakery, 0, 1.));
    expect_waiting(bakery, 1, 0);
    assert_true(restock(bakery, 0, 1.));
    expect_waiting(bakery, 1, 0);
    bakery->customers[1].expectation.wanted = 0;
    assert_true(restock(bakery, 1, 1.));
    expect_waiting(bakery, 1, 0);
}

static void test_the_oldest_is_taken_by_whom_it_was_made_for(void **state)
{
    struct bakery *bakery = *state;

    bakery->customers[0].expectation.wanted = 2;
    restock(bakery, 0, 1.);
    assert_null(take(bakery, 1, 2.));
    assert_ptr_equal(take(bakery, 0, 2.), &bakery->breads[0].waiting);
    assert_ptr_equal(take(bakery, 0, 2.), &bakery->breads[1].waiting);
    assert_null(take(bakery, 0, 2.));
    assert_false(bakery->breads[0].was_ended);
}

static void test_what_is_withdrawn_is_not_taken(void **state)
{
    struct bakery *bakery = *state;

    restock(bakery, 0, 1.);
    waiting_withdraw(&bakery->breads[0].waiting);
    assert_null(take(bakery, 0, 2.));
    waiting_withdraw(&bakery->breads[0].waiting);
    assert_false(bakery->breads[0].was_ended);
}

static void test_no_more_than_four_are_wanted(void **state)
{
    struct bakery *bakery = *state;

    for (int i = 0; i < 9; i++)
        expectation_raise(&bakery->customers[0].expectation);
    restock(bakery, 0, 1.);
    expect_waiting(bakery, WAITING_EQUAL, 0);
}

static void test_in_a_full_room_the_oldest_gives_way(void **state)
{
    struct bakery *bakery = *state;

    bakery->customers[0].expectation.wanted = 4;
    bakery->customers[1].expectation.wanted = 4;
    restock(bakery, 0, 1.);
    waiting_room_use(&bakery->room, &bakery->breads[0].waiting, 2.);
    restock(bakery, 1, 3.);
    expect_waiting(bakery, 2, 4);
    assert_false(bakery->breads[0].was_ended);
    assert_true(bakery->breads[1].was_ended && bakery->breads[2].was_ended);
}

static void test_in_a_full_room_nothing_gives_way_that_was_just_begun(void **state)
{
    struct bakery *bakery = *state;

    bakery->customers[0].expectation.wanted = 4;
    bakery->customers[1].expectation.wanted = 4;
    restock(bakery, 0, 1.);
    assert_false(restock(bakery, 1, 1.5));
    expect_waiting(bakery, 4, 2);
    assert_false(restock(bakery, 1, 2.5));
    expect_waiting(bakery, 4, 2);
    assert_true(restock(bakery, 1, 1. + WAITING_YOUNG_SECONDS));
    expect_waiting(bakery, 2, 4);
}

static void test_the_latest_stays_whatever_its_memory(void **state)
{
    struct bakery *bakery = *state;

    bakery->customers[0].expectation.wanted = 3;
    restock(bakery, 0, 1.);
    bakery->breads[0].waiting.memory = 30;
    bakery->breads[1].waiting.memory = 70;
    waiting_room_bound(&bakery->room, &bakery->breads[1].waiting, 0);
    expect_waiting(bakery, 3, 0);
    assert_int_equal(waiting_room_sum(&bakery->room).memory, 100);
    bakery->breads[1].waiting.memory = 101;
    waiting_room_bound(&bakery->room, &bakery->breads[1].waiting, 0);
    expect_waiting(bakery, 1, 0);
    assert_false(bakery->breads[1].was_ended);
}

static void test_after_a_failure_nothing_is_made_for_a_while(void **state)
{
    struct bakery *bakery = *state;

    bakery->is_broken = true;
    assert_false(restock(bakery, 0, 1.));
    bakery->is_broken = false;
    expectation_close(&bakery->customers[0].expectation, 1.);
    assert_false(restock(bakery, 0, 0.9 + WAITING_PAUSE_SECONDS));
    assert_true(restock(bakery, 1, 0.9 + WAITING_PAUSE_SECONDS));
    expect_waiting(bakery, 0, 1);
    assert_true(restock(bakery, 0, 1. + WAITING_PAUSE_SECONDS));
    expect_waiting(bakery, 1, 1);
}

static void test_the_while_grows_until_what_is_made_is_of_use(void **state)
{
    struct bakery *bakery = *state;
    struct expectation *expectation = &bakery->customers[0].expectation;

    for (double pause = WAITING_PAUSE_SECONDS; pause < WAITING_PAUSE_MOST; pause *= 2) {
        expectation_close(expectation, 1.);
        assert_true(expectation->closed_until == 1. + pause);
    }
    for (int i = 0; i < 2; i++) {
        expectation_close(expectation, 1.);
        assert_true(expectation->closed_until == 1. + WAITING_PAUSE_MOST);
    }
    expectation_open(expectation);
    expectation_close(expectation, 1.);
    assert_true(expectation->closed_until == 1. + WAITING_PAUSE_SECONDS);
}

static void test_what_nobody_comes_for_expires(void **state)
{
    struct bakery *bakery = *state;

    restock(bakery, 0, 1.);
    restock(bakery, 1, 2.);
    assert_true(waiting_room_expire(&bakery->room, WAITING_SECONDS));
    expect_waiting(bakery, 1, 1);
    assert_true(waiting_room_expire(&bakery->room, 1. + WAITING_SECONDS));
    expect_waiting(bakery, 0, 1);
    assert_false(waiting_room_expire(&bakery->room, 2. + WAITING_SECONDS));
    expect_waiting(bakery, 0, 0);
}

static void test_one_is_enough_when_it_is_quiet(void **state)
{
    struct bakery *bakery = *state;

    bakery->customers[0].expectation.wanted = 3;
    restock(bakery, 0, 1.);
    take(bakery, 0, 2.);
    restock(bakery, 0, 2.);
    waiting_room_expire(&bakery->room, 1. + WAITING_QUIET_SECONDS);
    expect_waiting(bakery, 3, 0);
    waiting_room_expire(&bakery->room, 2. + WAITING_QUIET_SECONDS);
    expect_waiting(bakery, 1, 0);
    assert_false(bakery->breads[3].was_ended);
    take(bakery, 0, 40.);
    restock(bakery, 0, 40.);
    expect_waiting(bakery, 1, 0);
}

static void test_what_is_expected_no_more_is_ended(void **state)
{
    struct bakery *bakery = *state;

    bakery->customers[0].expectation.wanted = 2;
    restock(bakery, 0, 1.);
    restock(bakery, 1, 1.);
    waiting_room_end(&bakery->room, &bakery->customers[0].expectation);
    expect_waiting(bakery, 0, 1);
    assert_true(bakery->breads[0].was_ended && bakery->breads[1].was_ended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_as_many_are_made_as_are_wanted, set_up),
        cmocka_unit_test_setup(test_the_oldest_is_taken_by_whom_it_was_made_for, set_up),
        cmocka_unit_test_setup(test_what_is_withdrawn_is_not_taken, set_up),
        cmocka_unit_test_setup(test_no_more_than_four_are_wanted, set_up),
        cmocka_unit_test_setup(test_in_a_full_room_the_oldest_gives_way, set_up),
        cmocka_unit_test_setup(test_in_a_full_room_nothing_gives_way_that_was_just_begun, set_up),
        cmocka_unit_test_setup(test_the_latest_stays_whatever_its_memory, set_up),
        cmocka_unit_test_setup(test_after_a_failure_nothing_is_made_for_a_while, set_up),
        cmocka_unit_test_setup(test_the_while_grows_until_what_is_made_is_of_use, set_up),
        cmocka_unit_test_setup(test_what_nobody_comes_for_expires, set_up),
        cmocka_unit_test_setup(test_one_is_enough_when_it_is_quiet, set_up),
        cmocka_unit_test_setup(test_what_is_expected_no_more_is_ended, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
