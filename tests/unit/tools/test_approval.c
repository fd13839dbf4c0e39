#include "server/tools/python/approval.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "server/tools/invocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct asking {
    struct principals *principals;
    struct tool_caller *caller;
    struct invocation invocation;
    struct catalog *catalog;
    struct approvals approvals;
    json_t *answers; /* of the client; owned */
    json_t *state;   /* what the round before has kept; owned */
};

static void asking_deinit(struct asking *asking)
{
    catalog_free(asking->catalog);
    approvals_deinit(&asking->approvals);
    invocation_deinit(&asking->invocation);
    tool_caller_unref(asking->caller);
    principals_free(asking->principals);
    json_decref(asking->answers);
    json_decref(asking->state);
}

/* The environment "x" has POLICY and TIMEOUT from now on. */
static void configure(struct asking *asking, enum approval_policy policy, double timeout)
{
    const struct environment_settings settings = {
        .timeout = timeout, .max_timeout = 600, .approval = policy};
    AUTO_JSON json_t *definition = json_pack("{s:s}", "type", "system");
    struct error err = ERROR_INIT;
    const char *key;

    catalog_free(asking->catalog);
    asking->catalog = catalog_new(&(struct catalog_settings){0});
    assert_int_equal(catalog_add(asking->catalog, "x", definition, &settings, &key, &err), 0);
}

/* Somebody calls where the environment "x" has POLICY. */
static void asking_init(struct asking *asking, enum approval_policy policy)
{
    *asking = (struct asking){.principals = principals_new()};
    asking->caller = tool_caller_new(asking->principals, "somebody", true);
    asking->invocation.caller = asking->caller;
    configure(asking, policy, 30);
}

static bool settle(struct asking *asking, const char *code)
{
    struct environment *environment = catalog_find(asking->catalog, "x");

    invocation_reset(&asking->invocation);
    asking->invocation.answers = asking->answers;
    asking->invocation.state = asking->state;
    return approval_settle(&asking->invocation,
                           &(struct approval_subject){
                               .environment = environment,
                               .timeout = environment->settings.timeout,
                               .directory = "temporary",
                               .code = code,
                               .length = strlen(code),
                           },
                           &asking->approvals);
}

/* The next round: what was kept comes back with ANSWER (JSON text; NULL: none). */
static void answer(struct asking *asking, const char *text)
{
    json_decref(asking->answers);
    json_decref(asking->state);
    asking->answers = text ? json_pack("{s:o}", "approve_run", json_loads(text, 0, NULL)) : NULL;
    asking->state = json_incref(asking->invocation.result.state);
}

static void forget(struct asking *asking)
{
    answer(asking, NULL);
    json_decref(asking->state);
    asking->state = NULL;
}

static void assert_asks(struct asking *asking, const char *code)
{
    assert_false(settle(asking, code));
    assert_non_null(json_object_get(asking->invocation.result.requests, "approve_run"));
    assert_false(asking->invocation.result.is_error);
}

static const char ACCEPT[] = "{\"action\": \"accept\", \"content\": {\"approve\": \"yes\"}}";

/* CODE is asked about, and the answer is yes. */
static void agree(struct asking *asking, const char *code)
{
    assert_asks(asking, code);
    answer(asking, ACCEPT);
    assert_true(settle(asking, code));
}

static void where_nobody_is_asked_everything_runs(void **state)
{
    struct asking asking;

    (void)state;
    asking_init(&asking, APPROVAL_NEVER);
    assert_true(settle(&asking, "1"));
    asking_deinit(&asking);
}

static void an_answer_counts_for_what_was_shown(void **state)
{
    struct asking asking;

    (void)state;
    asking_init(&asking, APPROVAL_ALWAYS);
    agree(&asking, "1");
    assert_asks(&asking, "2");
    asking_deinit(&asking);
}

static void without_a_yes_nothing_runs(void **state)
{
    static const struct {
        const char *text;
        const char *noted; /* for the account of the call */
    } answers[] = {
        {"{\"action\": \"decline\"}", "declined"},
        {"{\"action\": \"cancel\"}", "cancelled"},
        {"{\"action\": \"accept\", \"content\": {\"approve\": \"no\"}}", "declined"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        struct asking asking;

        asking_init(&asking, APPROVAL_ALWAYS);
        assert_asks(&asking, "1");
        answer(&asking, answers[i].text);
        assert_false(settle(&asking, "1"));
        assert_true(asking.invocation.result.is_error);
        assert_null(asking.invocation.result.requests);
        assert_string_equal(json_object_get_string(asking.invocation.notes, "approval"),
                            answers[i].noted);
        asking_deinit(&asking);
    }
}

static void what_is_no_decision_is_asked_again_a_few_times(void **state)
{
    struct asking asking;

    (void)state;
    asking_init(&asking, APPROVAL_ALWAYS);
    assert_asks(&asking, "1");
    for (int i = 0; i < 2; i++) {
        answer(&asking, "{\"action\": \"accept\"}");
        assert_asks(&asking, "1");
    }
    answer(&asking, "{\"action\": \"accept\"}");
    assert_false(settle(&asking, "1"));
    assert_true(asking.invocation.result.is_error);
    asking_deinit(&asking);
}

/* The configuration is another one by the time of the answer. */
static void an_environment_that_has_changed_is_shown_anew(void **state)
{
    struct asking asking;

    (void)state;
    asking_init(&asking, APPROVAL_ALWAYS);
    assert_asks(&asking, "1");
    answer(&asking, ACCEPT);
    configure(&asking, APPROVAL_ALWAYS, 60);
    agree(&asking, "1");
    asking_deinit(&asking);
}

static void without_what_was_kept_an_answer_counts_for_nothing(void **state)
{
    struct asking asking;

    (void)state;
    asking_init(&asking, APPROVAL_ALWAYS);
    answer(&asking, ACCEPT);
    assert_asks(&asking, "1");
    asking_deinit(&asking);
}

static void the_first_counts_until_the_environment_changes(void **state)
{
    struct asking asking;

    (void)state;
    asking_init(&asking, APPROVAL_FIRST);
    agree(&asking, "1");
    forget(&asking);
    assert_true(settle(&asking, "2"));
    configure(&asking, APPROVAL_FIRST, 30); /* the same again */
    assert_true(settle(&asking, "3"));
    configure(&asking, APPROVAL_FIRST, 60);
    assert_asks(&asking, "4");
    asking_deinit(&asking);
}

static void once_is_for_one_call(void **state)
{
    static const char once[] = "{\"action\": \"accept\", \"content\": {\"approve\": \"once\"}}";
    struct asking asking;

    (void)state;
    asking_init(&asking, APPROVAL_FIRST);
    assert_asks(&asking, "1");
    answer(&asking, once);
    assert_true(settle(&asking, "1"));
    forget(&asking);
    assert_asks(&asking, "2");
    asking_deinit(&asking);
}

static void the_first_is_somebodys_own(void **state)
{
    struct asking asking;

    (void)state;
    asking_init(&asking, APPROVAL_FIRST);
    agree(&asking, "1");
    forget(&asking);
    tool_caller_unref(asking.caller);
    asking.caller = tool_caller_new(asking.principals, "somebody else", true);
    asking.invocation.caller = asking.caller;
    assert_asks(&asking, "1");
    asking_deinit(&asking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_nobody_is_asked_everything_runs),
        cmocka_unit_test(an_answer_counts_for_what_was_shown),
        cmocka_unit_test(without_a_yes_nothing_runs),
        cmocka_unit_test(what_is_no_decision_is_asked_again_a_few_times),
        cmocka_unit_test(an_environment_that_has_changed_is_shown_anew),
        cmocka_unit_test(without_what_was_kept_an_answer_counts_for_nothing),
        cmocka_unit_test(the_first_counts_until_the_environment_changes),
        cmocka_unit_test(once_is_for_one_call),
        cmocka_unit_test(the_first_is_somebodys_own),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
