#include "server/transport/identity/authority.h"

#include "base/memory.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct fixture {
    struct ev_loop *loop;
    struct authority *authority;
    struct authority_check check;
    uint64_t address;
    unsigned dones;
};

static struct credential credential_of(const char *principal, const char *token)
{
    return (struct credential){principal, token_of(token, strlen(token))};
}

static int set_up(void **state)
{
    struct fixture *fixture = NEW(struct fixture);
    const struct credential credentials[] = {
        credential_of("alice", "first"),
        credential_of("bob", "second"),
        credential_of("alice", "third"),
    };

    fixture->loop = ev_loop_new(EVFLAG_AUTO);
    fixture->authority = authority_new(&(struct authority_settings){
        .loop = fixture->loop,
        .credentials = credentials,
        .credential_count = 3,
    });
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    authority_check_deinit(&fixture->check);
    authority_free(fixture->authority);
    ev_loop_destroy(fixture->loop);
    free(fixture);
    return 0;
}

static void on_done(struct authority_check *check)
{
    CONTAINER_OF(check, struct fixture, check)->dones++;
}

static enum outcome ask(struct fixture *fixture, const char *authorization)
{
    authority_check_deinit(&fixture->check);
    fixture->check = (struct authority_check){
        .authority = fixture->authority,
        .peer = {.family = AF_INET, .number = fixture->address},
        .authorization = authorization,
        .done = on_done,
    };
    return authority_check(&fixture->check);
}

static void check_granted(struct fixture *fixture, const char *authorization, const char *principal)
{
    assert_int_equal(ask(fixture, authorization), OUTCOME_READY);
    assert_int_equal(fixture->check.status, 0);
    assert_string_equal(fixture->check.principal, principal);
    assert_null(fixture->check.challenge);
}

static void check_refused(struct fixture *fixture, const char *authorization, unsigned status,
                          const char *challenge)
{
    fixture->address++; /* not yet known as one who guesses */
    assert_int_equal(ask(fixture, authorization), OUTCOME_READY);
    assert_int_equal(fixture->check.status, status);
    assert_string_equal(fixture->check.challenge, challenge);
    assert_string_equal(fixture->check.principal, "");
}

static void test_a_token_says_who_it_is(void **state)
{
    struct fixture *fixture = *state;

    check_granted(fixture, "Bearer first", "alice");
    check_granted(fixture, "bearer second", "bob");
    check_granted(fixture, "BEARER \t third", "alice");
}

static void test_without_a_token_one_is_asked_for(void **state)
{
    check_refused(*state, NULL, 401, "Bearer realm=\"mcp\"");
    check_refused(*state, "Basic Zmlyc3Q6", 401, "Bearer realm=\"mcp\"");
    check_refused(*state, "Bearerfirst", 401, "Bearer realm=\"mcp\"");
}

static void test_another_token_is_said_to_be_invalid(void **state)
{
    static const char *const others[] = {"Bearer firs", "Bearer firsT", "Bearer first2",
                                         "Bearer x"};

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        check_refused(*state, others[i], 401, "Bearer realm=\"mcp\", error=\"invalid_token\"");
}

static void test_what_is_malformed_is_said_to_be(void **state)
{
    char *long_one = memory_format("Bearer %0*d", TOKEN_MOST_BYTES + 1, 1);
    const char *const others[] = {
        "",       "Bearer", "Bearer ", "Bearer first second", "Bearer first ", "Bearer caf\xc3\xa9",
        long_one,
    };

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        check_refused(*state, others[i], 400, "Bearer realm=\"mcp\", error=\"invalid_request\"");
    free(long_one);
}

static void fail_five_times(struct fixture *fixture)
{
    for (int i = 0; i < 5; i++)
        assert_int_equal(ask(fixture, "Bearer wrong"), OUTCOME_READY);
}

static void test_who_guesses_is_answered_late(void **state)
{
    struct fixture *fixture = *state;
    ev_tstamp begin;

    fail_five_times(fixture);
    begin = ev_time();
    ev_now_update(fixture->loop); /* timers begin at the time that the loop has last seen */
    assert_int_equal(ask(fixture, "Bearer wrong"), OUTCOME_PENDING);
    TURN_UNTIL(fixture->loop, fixture->dones > 0);
    assert_true(ev_time() - begin >= 0.24);
    assert_int_equal(fixture->dones, 1);
    assert_int_equal(fixture->check.status, 401);
    assert_non_null(fixture->check.challenge);
}

static void test_others_do_not_pay_for_it(void **state)
{
    struct fixture *fixture = *state;

    fail_five_times(fixture);
    check_granted(fixture, "Bearer first", "alice"); /* nor does the right token */
    assert_int_equal(ask(fixture, NULL), OUTCOME_READY);
    fixture->address++;
    assert_int_equal(ask(fixture, "Bearer wrong"), OUTCOME_READY);
}

static void test_the_addresses_in_mind_are_bounded(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 1000; i++) {
        fixture->address++;
        assert_int_equal(ask(fixture, "Bearer wrong"), OUTCOME_READY);
    }
    for (int i = 0; i < 4; i++) /* the newest is in mind */
        assert_int_equal(ask(fixture, "Bearer wrong"), OUTCOME_READY);
    assert_int_equal(ask(fixture, "Bearer wrong"), OUTCOME_PENDING);
}

static void test_nothing_comes_after_the_end(void **state)
{
    struct fixture *fixture = *state;

    fail_five_times(fixture);
    assert_int_equal(ask(fixture, "Bearer wrong"), OUTCOME_PENDING);
    authority_check_deinit(&fixture->check);
    turn_for(fixture->loop, 0.4);
    assert_int_equal(fixture->dones, 0);
}

static void test_tokens_can_be_exchanged(void **state)
{
    struct fixture *fixture = *state;
    const struct credential other = credential_of("carol", "fourth");

    authority_set_credentials(fixture->authority, &other, 1);
    check_granted(fixture, "Bearer fourth", "carol");
    check_refused(fixture, "Bearer first", 401, "Bearer realm=\"mcp\", error=\"invalid_token\"");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_a_token_says_who_it_is),
        TEST(test_without_a_token_one_is_asked_for),
        TEST(test_another_token_is_said_to_be_invalid),
        TEST(test_what_is_malformed_is_said_to_be),
        TEST(test_who_guesses_is_answered_late),
        TEST(test_others_do_not_pay_for_it),
        TEST(test_the_addresses_in_mind_are_bounded),
        TEST(test_nothing_comes_after_the_end),
        TEST(test_tokens_can_be_exchanged),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
