#include "server/tools/prompt.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static enum outcome start(struct invocation *invocation, struct error *err)
{
    (void)err;
    prompt_add_text(invocation, "user", "a\xff");
    return OUTCOME_READY;
}

static int add(struct registry *registry, const char *name, const char *argument, const char *text)
{
    struct prompt prompt = {.name = name,
                            .description = text,
                            .arguments = {{.name = argument, .required = true}},
                            .start = start};
    struct error err = ERROR_INIT;
    int status = prompt_register(registry, &prompt, &err);

    assert_int_equal(err.code, status == 0 ? ERROR_NONE : ERROR_CONFIG);
    return status;
}

static void what_is_no_prompt_is_refused(void **state)
{
    struct registry *registry = registry_new();

    (void)state;
    assert_int_equal(add(registry, NULL, "a", "d"), -1);
    assert_int_equal(add(registry, "", "a", "d"), -1);
    assert_int_equal(add(registry, "two words", "a", "d"), -1);
    assert_int_equal(add(registry, "p", "two words", "d"), -1);
    assert_int_equal(add(registry, "p", "a", "\xff"), -1);
    assert_int_equal(add(registry, "p", "a", NULL), 0);
    assert_int_equal(add(registry, "p", "b", "again"), -1);
    assert_int_equal(registry_count(registry, REGISTRY_PROMPTS), 1);
    registry_free(registry);
}

/* What a call of NAME with ARGUMENTS (JSON text) comes to. */
static enum error_code call_with(const struct registry *registry, const char *name,
                                 const char *arguments)
{
    AUTO_JSON json_t *value = arguments ? json_loads(arguments, 0, NULL) : NULL;
    struct invocation invocation = {.arguments = value};
    struct error err = ERROR_INIT;

    if (prompt_prepare(&invocation, registry, name, &err) == 0)
        assert_int_equal(invocation_start(&invocation, &err), OUTCOME_READY);
    invocation_deinit(&invocation);
    return err.code;
}

static void arguments_are_strings_and_there_where_they_are_required(void **state)
{
    struct registry *registry = registry_new();

    (void)state;
    assert_int_equal(add(registry, "p", "a", "d"), 0);
    assert_int_equal(call_with(registry, "p", "{\"a\":\"\"}"), ERROR_NONE);
    assert_int_equal(call_with(registry, "p", "{\"a\":\"\",\"b\":\"\"}"), ERROR_NONE);
    assert_int_equal(call_with(registry, "p", "{\"a\":null}"), ERROR_INVALID_PARAMS);
    assert_int_equal(call_with(registry, "p", "{\"a\":\"\",\"b\":1}"), ERROR_INVALID_PARAMS);
    assert_int_equal(call_with(registry, "p", "{}"), ERROR_INVALID_PARAMS);
    assert_int_equal(call_with(registry, "p", NULL), ERROR_INVALID_PARAMS);
    assert_int_equal(call_with(registry, "q", "{}"), ERROR_INVALID_PARAMS);
    registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_prompt_is_refused),
        cmocka_unit_test(arguments_are_strings_and_there_where_they_are_required),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
