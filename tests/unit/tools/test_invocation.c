#include "server/tools/invocation.h"

#include "base/json.h"
#include "server/tools/prompt.h"
#include "server/tools/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static unsigned cancelled;

static enum outcome start(struct invocation *invocation, struct error *err)
{
    (void)err;
    invocation->work = invocation->data;
    return OUTCOME_PENDING;
}

static void cancel(struct invocation *invocation)
{
    assert_ptr_equal(invocation->work, &cancelled);
    cancelled++;
}

static struct registry *registry_with_prompt(void)
{
    struct registry *registry = registry_new();
    struct prompt prompt = {.name = "p", .data = &cancelled, .start = start, .cancel = cancel};
    struct error err = ERROR_INIT;

    assert_int_equal(prompt_register(registry, &prompt, &err), 0);
    return registry;
}

static void what_is_called_stays_while_its_calls_run(void **state)
{
    struct registry *registry = registry_with_prompt();
    struct invocation invocation = {0};
    struct error err = ERROR_INIT;

    (void)state;
    cancelled = 0;
    assert_int_equal(prompt_prepare(&invocation, registry, "p", &err), 0);
    assert_int_equal(invocation_start(&invocation, &err), OUTCOME_PENDING);
    registry_remove(registry, REGISTRY_PROMPTS, "p");
    registry_free(registry);
    assert_string_equal(invocation.name, "p");
    invocation_cancel(&invocation);
    assert_int_equal(cancelled, 1);
    invocation_deinit(&invocation);
    invocation_deinit(&invocation);
}

static void what_is_asked_is_told_by_key(void **state)
{
    struct invocation invocation = {0};
    AUTO_JSON json_t *expected = json_loads(
        "{\"r\":{\"method\":\"roots/list\",\"params\":{}},"
        "\"f\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"m\","
        "\"requestedSchema\":{}}},"
        "\"p\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\",\"message\":\"m\","
        "\"url\":\"https://a\",\"elicitationId\":\"7\"}}}",
        0, NULL);

    (void)state;
    invocation_ask(&invocation, "r", "roots/list", json_object());
    invocation_ask_form(&invocation, "f", "m", json_object());
    invocation_ask_page(&invocation, "p", "m", "https://a", "7");
    assert_true(json_equal(invocation.result.requests, expected));
    invocation_deinit(&invocation);
}

static void only_an_object_is_an_answer(void **state)
{
    AUTO_JSON json_t *answers = json_loads("{\"a\":{\"x\":1},\"b\":1,\"c\":null}", 0, NULL);
    const struct invocation invocation = {.answers = answers};
    const struct invocation first = {0};

    (void)state;
    assert_non_null(invocation_answer(&invocation, "a"));
    assert_null(invocation_answer(&invocation, "b"));
    assert_null(invocation_answer(&invocation, "c"));
    assert_null(invocation_answer(&invocation, "d"));
    assert_null(invocation_answer(&first, "a"));
}

static void a_call_can_be_started_again_without_what_it_answered(void **state)
{
    struct invocation invocation = {.arguments = NULL};

    (void)state;
    invocation_add_text(&invocation, "a\xff", 2);
    invocation_keep(&invocation, json_integer(1));
    invocation_keep(&invocation, json_integer(2));
    assert_int_equal(json_integer_value(invocation.result.state), 2);
    invocation_reset(&invocation);
    assert_null(invocation.result.content);
    assert_null(invocation.result.state);
    invocation_deinit(&invocation);
}

static enum outcome start_ready(struct invocation *invocation, struct error *err)
{
    (void)err;
    invocation_ask(invocation, "r", "roots/list", json_object());
    return OUTCOME_READY;
}

static void what_has_asked_is_found_and_can_be_started_again(void **state)
{
    struct registry *registry = registry_new();
    const struct prompt prompt = {.name = "p", .start = start_ready};
    struct invocation invocation = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(prompt_register(registry, &prompt, &err), 0);
    assert_int_equal(prompt_prepare(&invocation, registry, "p", &err), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(invocation.phase, INVOCATION_FOUND);
        assert_int_equal(invocation_start(&invocation, &err), OUTCOME_READY);
        assert_int_equal(invocation.phase, INVOCATION_ENDED);
        invocation_reset(&invocation);
    }
    invocation_deinit(&invocation);
    assert_int_equal(invocation.phase, INVOCATION_NEW);
    registry_free(registry);
}

static void its_progress_rises_however_often_it_is_told(void **state)
{
    struct registry *registry = registry_with_prompt();
    struct invocation invocation = {0};
    struct error err = ERROR_INIT;
    double before = -1;

    (void)state;
    assert_int_equal(prompt_prepare(&invocation, registry, "p", &err), 0);
    assert_int_equal(invocation_start(&invocation, &err), OUTCOME_PENDING);
    for (int i = 0; i < 100; i++) {
        double now = invocation_next_progress(&invocation);

        assert_true(now > before);
        before = now;
    }
    invocation_cancel(&invocation);
    invocation_deinit(&invocation);
    registry_free(registry);
}

static void nobody_need_listen(void **state)
{
    struct invocation invocation = {0};

    (void)state;
    invocation_log(&invocation, SEVERITY_INFO, NULL, json_string("x"));
    invocation_release(&invocation);
    invocation_finish_page(&invocation, "7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_called_stays_while_its_calls_run),
        cmocka_unit_test(what_is_asked_is_told_by_key),
        cmocka_unit_test(only_an_object_is_an_answer),
        cmocka_unit_test(a_call_can_be_started_again_without_what_it_answered),
        cmocka_unit_test(what_has_asked_is_found_and_can_be_started_again),
        cmocka_unit_test(its_progress_rises_however_often_it_is_told),
        cmocka_unit_test(nobody_need_listen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
