#include "server/tools/limits.h"

#include "base/clock.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static int set_up(void **state)
{
    *state = limits_new();
    return 0;
}

static int tear_down(void **state)
{
    limits_free(*state);
    return 0;
}

static void check_admitted(struct limits *limits, const char *name)
{
    struct error err = ERROR_INIT;

    if (limits_admit_call(limits, name, &err) < 0)
        fail_msg("%s", err.message);
}

static void check_busy(struct limits *limits, const char *name, const char *message)
{
    struct error err = ERROR_INIT;

    assert_int_equal(limits_admit_call(limits, name, &err), -1);
    assert_int_equal(err.code, ERROR_BUSY);
    assert_string_equal(err.message, message);
}

static void test_without_limits_everything_is_allowed(void **state)
{
    struct error err = ERROR_INIT;

    for (int i = 0; i < 10000; i++)
        check_admitted(*state, "alice");
    assert_int_equal(limits_find(*state, "alice")->concurrent_runs, 0);
    assert_int_equal(limits_check_environment(*state, "alice", "anything", &err), 0);
    assert_int_equal(limits_check_environment(*state, "alice", NULL, &err), 0);
}

static void test_a_third_of_a_minute_may_come_at_once(void **state)
{
    limits_set(*state, NULL, &(struct principal_limits){.calls_per_minute = 60});
    for (int i = 0; i < 20; i++)
        check_admitted(*state, "alice");
    check_busy(*state, "alice", "too many calls: 60 a minute are allowed; try again in 1 s");
    check_admitted(*state, "bob");
}

static void test_calls_are_forgotten_at_the_rate_at_which_they_may_come(void **state)
{
    const struct timespec pause = {.tv_nsec = 120000000}; /* two calls at this rate */

    limits_set(*state, "alice", &(struct principal_limits){.calls_per_minute = 1000});
    for (int i = 0; i < 333; i++)
        check_admitted(*state, "alice");
    nanosleep(&pause, NULL);
    check_admitted(*state, "alice");
    check_admitted(*state, "alice");
}

static void test_few_calls_are_allowed_one_by_one(void **state)
{
    limits_set(*state, "alice", &(struct principal_limits){.calls_per_minute = 1});
    check_admitted(*state, "alice");
    check_busy(*state, "alice", "too many calls: 1 a minute are allowed; try again in 60 s");
}

static void test_new_limits_do_not_forget_what_was_done(void **state)
{
    const struct principal_limits few = {.calls_per_minute = 3};

    limits_set(*state, "alice", &few);
    check_admitted(*state, "alice");
    limits_clear(*state);
    limits_set(*state, "alice", &few);
    check_busy(*state, "alice", "too many calls: 3 a minute are allowed; try again in 20 s");
}

static void test_each_has_its_own_limits_before_those_of_all(void **state)
{
    limits_set(*state, "alice", &(struct principal_limits){.concurrent_runs = 1});
    limits_set(*state, NULL, &(struct principal_limits){.concurrent_runs = 3});
    limits_set(*state, "alice", &(struct principal_limits){.concurrent_runs = 2});
    assert_int_equal(limits_find(*state, "alice")->concurrent_runs, 2);
    assert_int_equal(limits_find(*state, "bob")->concurrent_runs, 3);
}

static void check_refused(const struct limits *limits, const char *environment, const char *message)
{
    struct error err = ERROR_INIT;

    assert_int_equal(limits_check_environment(limits, "alice", environment, &err), -1);
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    assert_string_equal(err.message, message);
}

static void test_a_name_that_is_gone_may_no_more_than_before(void **state)
{
    static const char *const names[] = {"system", NULL};
    const struct principal_limits *left;

    limits_set(*state, NULL, &(struct principal_limits){.calls_per_minute = 60});
    limits_set(
        *state, "alice",
        &(struct principal_limits){.concurrent_runs = 1, .environments = names, .tools = names});
    limits_clear(*state);
    limits_set(*state, NULL, &(struct principal_limits){.calls_per_minute = 30});
    left = limits_find(*state, "alice");
    assert_int_equal(left->concurrent_runs, 1);
    assert_string_equal(left->environments[0], "system");
    assert_non_null(left->tools);
    assert_null(left->tools[0]);
    assert_int_equal(limits_find(*state, "bob")->calls_per_minute, 30);
    limits_set(*state, "alice", &(struct principal_limits){.concurrent_runs = 2});
    assert_null(limits_find(*state, "alice")->tools);
}

static void test_only_listed_environments_may_be_used(void **state)
{
    char first[] = "science";
    const char *environments[] = {first, "plain", NULL};
    struct error err = ERROR_INIT;

    limits_set(*state, "alice", &(struct principal_limits){.environments = environments});
    first[0] = '\0'; /* it was copied */
    assert_int_equal(limits_check_environment(*state, "alice", "science", &err), 0);
    assert_int_equal(limits_check_environment(*state, "alice", "plain", &err), 0);
    check_refused(*state, "system",
                  "you may not use environment \"system\"; you may use: science, plain");
    check_refused(*state, NULL, "you may not define environments; you may use: science, plain");
    assert_int_equal(limits_check_environment(*state, "bob", "system", &err), 0);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_without_limits_everything_is_allowed),
        TEST(test_a_third_of_a_minute_may_come_at_once),
        TEST(test_calls_are_forgotten_at_the_rate_at_which_they_may_come),
        TEST(test_few_calls_are_allowed_one_by_one),
        TEST(test_new_limits_do_not_forget_what_was_done),
        TEST(test_each_has_its_own_limits_before_those_of_all),
        TEST(test_a_name_that_is_gone_may_no_more_than_before),
        TEST(test_only_listed_environments_may_be_used),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
