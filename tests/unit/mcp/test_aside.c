#include "server/mcp/aside.h"

#include "server/mcp/request.h"
#include "server/tools/invocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static const char *why_there_is_none;

static void on_answered(struct invocation_aside *aside, const json_t *answer, const char *why_not)
{
    (void)aside;
    assert_null(answer);
    why_there_is_none = why_not;
}

static unsigned asked; /* the number of the newest question */
static unsigned withdrawn;

static unsigned ask(struct mcp_request *request, const char *method, json_t *params)
{
    (void)request;
    (void)method;
    json_decref(params);
    return ++asked;
}

static void withdraw(struct mcp_request *request, unsigned number)
{
    (void)request;
    withdrawn = number;
}

static json_t *question(void)
{
    return json_pack("{s:s, s:{s:s, s:{}}}", "method", "elicitation/create", "params", "message",
                     "May it?", "requestedSchema");
}

static void after_silence_nobody_is_asked_again(void **state)
{
    struct ev_loop *loop = ev_loop_new(0);
    struct mcp_request request = {.version = MCP_2025_11_25, .ask = ask, .withdraw = withdraw};
    struct invocation_aside of = {.answered = on_answered};
    struct aside aside;

    (void)state;
    aside_init(&aside, loop);
    assert_null(aside_ask(&aside, &request, &of, question()));
    ev_timer_stop(loop, &aside.patience);
    ev_timer_set(&aside.patience, 0.01, 0);
    ev_timer_start(loop, &aside.patience);
    ev_run(loop, 0);
    assert_string_equal(why_there_is_none,
                        "a person has to approve it, and did not answer in time");
    assert_string_equal(aside_ask(&aside, &request, &of, question()),
                        "a person has to approve it, and did not answer an earlier question");
    ev_loop_destroy(loop);
}

static void two_ask(struct aside *aside, struct mcp_request *request, struct invocation_aside of[2])
{
    asked = withdrawn = 0;
    *request = (struct mcp_request){.version = MCP_2025_11_25, .ask = ask, .withdraw = withdraw};
    for (size_t i = 0; i < 2; i++) {
        of[i] = (struct invocation_aside){.answered = on_answered};
        assert_null(aside_ask(aside, request, &of[i], question()));
    }
    assert_int_equal(asked, 1);
}

static void the_second_question_waits_for_the_answer_to_the_first(void **state)
{
    const struct error failed = {.code = ERROR_UNAVAILABLE};
    struct ev_loop *loop = ev_loop_new(0);
    struct invocation_aside of[2];
    struct mcp_request request;
    struct aside aside;

    (void)state;
    aside_init(&aside, loop);
    two_ask(&aside, &request, of);
    assert_false(aside_take(&aside, 2, NULL, &failed));
    assert_true(aside_take(&aside, 1, NULL, &failed));
    assert_int_equal(asked, 2);
    assert_true(aside_take(&aside, 2, NULL, &failed));
    assert_false(aside_take(&aside, 3, NULL, &failed));

    two_ask(&aside, &request, of);
    aside_withdraw(&aside, &of[1]);
    assert_int_equal(withdrawn, 0);
    aside_withdraw(&aside, &of[0]);
    assert_int_equal(withdrawn, 1);
    assert_int_equal(asked, 1);

    two_ask(&aside, &request, of);
    aside_withdraw(&aside, &of[0]);
    assert_int_equal(asked, 2);
    aside_withdraw(&aside, &of[1]);
    assert_int_equal(withdrawn, 2);
    ev_loop_destroy(loop);
}

static void who_is_given_up_asks_nothing_more(void **state)
{
    struct ev_loop *loop = ev_loop_new(0);
    struct invocation_aside of[2];
    struct mcp_request request;
    struct aside aside;

    (void)state;
    aside_init(&aside, loop);
    two_ask(&aside, &request, of);
    aside_give_up(&aside, "gone", "gone before");
    assert_int_equal(asked, 1);
    assert_int_equal(withdrawn, 1);
    assert_string_equal(why_there_is_none, "gone");
    assert_string_equal(aside_ask(&aside, &request, &of[1], question()), "gone before");
    aside_end(&aside);
    ev_loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_silence_nobody_is_asked_again),
        cmocka_unit_test(the_second_question_waits_for_the_answer_to_the_first),
        cmocka_unit_test(who_is_given_up_asks_nothing_more),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
