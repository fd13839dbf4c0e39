/* What a job asks its client up to 2025-11-25, without a client. What goes over the wire, at each
 * revision, is in tests/integration/test_asking.py. */
#include "server/mcp/job.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/tools/prompt.h"
#include "server/tools/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { CANNOT_BE_ASKED = 0, FIRST_NUMBER = 1 };

struct scene {
    struct mcp_server server;
    struct mcp_peer peer;
    struct mcp_request request;
    json_t *params;       /* owned */
    unsigned last_number; /* of what was asked */
    bool cannot_be_asked; /* by whoever is on the other side */
    bool asks_for_ever;   /* the prompt, in each round the same */
    unsigned withdrawn;
    unsigned done;
    struct error error;
    json_t *result; /* owned: of `done` */
    char notified[256];
};

static struct scene scene;

static unsigned on_ask(struct mcp_request *request, const char *method, json_t *params)
{
    (void)request;
    (void)method;
    json_decref(params);
    return scene.cannot_be_asked ? CANNOT_BE_ASKED : ++scene.last_number;
}

static void on_withdraw(struct mcp_request *request, unsigned number)
{
    (void)request;
    assert_true(number >= FIRST_NUMBER && number <= scene.last_number);
    scene.withdrawn++;
}

static void on_notify(struct mcp_request *request, const char *method, json_t *params)
{
    AUTO_FREE char *text = json_text(params);

    (void)request;
    snprintf(scene.notified, sizeof scene.notified, "%s %s", method, text);
    json_decref(params);
}

static void on_done(struct mcp_request *request, json_t *result, const struct error *err)
{
    assert_ptr_equal(request, &scene.request);
    scene.done++;
    scene.result = result;
    if (err)
        error_copy(&scene.error, err);
}

/* Asks two things in the first round, a page in the second, and waits for it. */
static enum outcome start(struct invocation *invocation, struct error *err)
{
    (void)err;
    if (scene.asks_for_ever || !invocation_answer(invocation, "a") ||
        !invocation_answer(invocation, "b")) {
        invocation_ask(invocation, "a", "roots/list", json_object());
        invocation_ask(invocation, "b", "sampling/createMessage", json_object());
        invocation_keep(invocation, json_string("kept"));
        return OUTCOME_READY;
    }
    assert_string_equal(json_string_value(invocation->state), "kept");
    return OUTCOME_PENDING;
}

static void cancel(struct invocation *invocation)
{
    (void)invocation;
}

static int open_scene(void **state)
{
    struct prompt prompt = {.name = "p", .start = start, .cancel = cancel};
    json_t *result = NULL;

    (void)state;
    scene = (struct scene){
        .server = {.loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()}};
    assert_int_equal(prompt_register(scene.server.registry, &prompt, &scene.error), 0);
    mcp_server_init(&scene.server);
    mcp_peer_init(&scene.peer, &scene.server, &(struct mcp_peer_settings){.principal = "somebody"});
    scene.peer.negotiated = MCP_2025_11_25;
    scene.peer.capabilities = json_pack("{s:{}, s:{}}", "roots", "sampling");
    scene.params = json_pack("{s:s}", "name", "p");
    scene.request = (struct mcp_request){
        .peer = &scene.peer,
        .method = "prompts/get",
        .params = scene.params,
        .notify = on_notify,
        .ask = on_ask,
        .withdraw = on_withdraw,
        .done = on_done,
    };
    assert_int_equal(mcp_request_start(&scene.request, &result, &scene.error), OUTCOME_PENDING);
    assert_int_equal(scene.last_number, 2);
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    mcp_request_deinit(&scene.request);
    mcp_peer_deinit(&scene.peer);
    mcp_server_deinit(&scene.server);
    registry_free(scene.server.registry);
    json_decref(scene.params);
    json_decref(scene.result);
    return 0;
}

static void answer(unsigned number)
{
    AUTO_JSON json_t *result = json_object();

    mcp_request_answer(&scene.request, number, result, NULL);
}

static void it_goes_on_when_all_is_answered(void **state)
{
    struct job *job = scene.request.job;

    (void)state;
    answer(2);
    assert_int_equal(job->state, JOB_ASKING);
    answer(2); /* once more, or what was never asked: passed over */
    answer(7);
    assert_int_equal(job->state, JOB_ASKING);
    answer(1);
    assert_int_equal(job->state, JOB_RUNNING);
    assert_false(ev_is_active(&job->rounds.patience));
    invocation_finish(&job->invocation);
    assert_int_equal(scene.done, 1);
    assert_non_null(scene.result);
    assert_int_equal(scene.withdrawn, 0);
}

static void a_client_that_does_not_answer_is_not_waited_for_for_ever(void **state)
{
    struct job *job = scene.request.job;

    (void)state;
    answer(1);
    assert_true(ev_is_active(&job->rounds.patience));
    ev_invoke(EV_DEFAULT, &job->rounds.patience, EV_TIMER);
    assert_int_equal(scene.done, 1);
    assert_int_equal(scene.error.code, ERROR_TIMEOUT);
    assert_int_equal(scene.withdrawn, 1);
}

static void what_asks_for_ever_is_ended_after_eight_rounds(void **state)
{
    (void)state;
    scene.asks_for_ever = true;
    for (unsigned round = 1; round <= 8; round++) {
        assert_int_equal(scene.done, 0);
        assert_int_equal(scene.last_number, 2 * round);
        answer(2 * round - 1);
        answer(2 * round);
    }
    assert_int_equal(scene.done, 1);
    assert_int_equal(scene.error.code, ERROR_LIMIT);
    assert_string_equal(scene.error.message, "more than 8 rounds of questions");
}

static void an_error_withdraws_what_else_was_asked(void **state)
{
    struct error failed = ERROR_INIT;

    (void)state;
    error_set(&failed, ERROR_UNAVAILABLE, "not today");
    mcp_request_answer(&scene.request, 1, NULL, &failed);
    assert_int_equal(scene.done, 1);
    assert_int_equal(scene.withdrawn, 1);
    assert_non_null(strstr(scene.error.message, "not today"));
}

static void a_request_that_is_cancelled_withdraws_what_was_asked(void **state)
{
    (void)state;
    mcp_request_cancel(&scene.request);
    assert_int_equal(scene.withdrawn, 2);
    assert_int_equal(scene.done, 0);
}

static void what_runs_after_its_answers_can_be_cancelled(void **state)
{
    (void)state;
    answer(1);
    answer(2);
    mcp_request_cancel(&scene.request);
    assert_int_equal(scene.withdrawn, 0);
    assert_int_equal(scene.done, 0);
}

static void who_cannot_be_asked_is_told_so(void **state)
{
    json_t *result = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    mcp_request_cancel(&scene.request);
    mcp_request_deinit(&scene.request);
    scene.cannot_be_asked = true;
    assert_int_equal(mcp_request_start(&scene.request, &result, &err), OUTCOME_FAILED);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
}

static void that_a_page_is_done_is_told_while_it_waits(void **state)
{
    (void)state;
    answer(1);
    answer(2);
    invocation_finish_page(&scene.request.job->invocation, "7");
    assert_string_equal(scene.notified,
                        "notifications/elicitation/complete {\"elicitationId\":\"7\"}");
    mcp_request_cancel(&scene.request);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(it_goes_on_when_all_is_answered),
        TEST(a_client_that_does_not_answer_is_not_waited_for_for_ever),
        TEST(what_asks_for_ever_is_ended_after_eight_rounds),
        TEST(an_error_withdraws_what_else_was_asked),
        TEST(a_request_that_is_cancelled_withdraws_what_was_asked),
        TEST(what_runs_after_its_answers_can_be_cancelled),
        TEST(who_cannot_be_asked_is_told_so),
        TEST(that_a_page_is_done_is_told_while_it_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
