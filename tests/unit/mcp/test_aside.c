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

static unsigned ask(struct mcp_request *request, const char *method, json_t *params)
{
    (void)request;
    (void)method;
    json_decref(params);
    return 1;
}

static void withdraw(struct mcp_request *request, unsigned number)
{
    (void)request;
    assert_int_equal(number, 1);
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
    aside_give_up(&aside, "gone");
    assert_string_equal(why_there_is_none, "gone");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_silence_nobody_is_asked_again),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
