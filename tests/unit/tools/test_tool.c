#include "server/tools/tool.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/tools/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char SCHEMA[] =
    "{\"type\": \"object\","
    " \"properties\": {\"code\": {\"type\": \"string\"}, \"timeout\": {\"type\": \"number\"},"
    "   \"files\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},"
    "   \"place\": {\"type\": \"object\", \"required\": [\"kind\"], \"properties\": {"
    "     \"kind\": {\"type\": \"string\"}, \"size\": {\"type\": \"number\"}}}},"
    " \"required\": [\"code\"], \"additionalProperties\": false}";

/* The arguments the tool saw, as JSON text; NULL: it was not started. */
static char *seen;

static enum outcome remember(struct invocation *invocation, struct error *err)
{
    (void)err;
    seen = json_text(invocation->arguments);
    return OUTCOME_READY;
}

static enum outcome wait_for_it(struct invocation *invocation, struct error *err)
{
    (void)err;
    invocation->work = seen;
    return OUTCOME_PENDING;
}

static void forget_it(struct invocation *invocation)
{
    invocation->work = NULL;
}

static struct registry *one_tool(enum outcome (*start)(struct invocation *, struct error *))
{
    struct registry *registry = registry_new();
    struct error err = ERROR_INIT;
    struct tool tool = {.name = "t",
                        .description = "d",
                        .input_schema = json_loads(SCHEMA, 0, NULL),
                        .start = start,
                        .cancel = forget_it};

    assert_int_equal(tool_register_function(registry, &tool, &err), 0);
    return registry;
}

static enum outcome start_tool(struct invocation *invocation, struct registry *registry,
                               const char *name, struct error *err)
{
    if (tool_prepare(invocation, registry, name, err) < 0)
        return OUTCOME_FAILED;
    return invocation_start(invocation, err);
}

/* Calls the tool with ARGUMENTS (JSON text, or NULL); `seen` is then what it got. */
static enum outcome call_with(const char *arguments, struct error *err)
{
    struct registry *registry = one_tool(remember);
    AUTO_JSON json_t *value = arguments ? json_loads(arguments, 0, NULL) : NULL;
    struct invocation invocation = {.arguments = value};
    enum outcome outcome;

    free(seen);
    seen = NULL;
    outcome = start_tool(&invocation, registry, "t", err);
    invocation_deinit(&invocation);
    registry_free(registry);
    return outcome;
}

static void explicit_nulls_of_optional_arguments_are_absent(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(call_with("{\"code\":\"1\",\"timeout\":null,\"files\":null}", &err),
                     OUTCOME_READY);
    assert_string_equal(seen, "{\"code\":\"1\"}");
}

static void nulls_inside_of_an_object_are_absent_too(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(
        call_with("{\"code\":\"1\",\"place\":{\"kind\":\"a\",\"size\":null,\"x\":null}}", &err),
        OUTCOME_READY);
    assert_string_equal(seen, "{\"code\":\"1\",\"place\":{\"kind\":\"a\",\"x\":null}}");
    assert_int_equal(call_with("{\"code\":\"1\",\"place\":{\"kind\":null}}", &err), OUTCOME_FAILED);
    assert_string_equal(err.message, "arguments do not fit: place.kind must be string, not null");
}

static void empty_optional_arguments_are_absent_too(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(call_with("{\"code\":\"\",\"timeout\":\"\",\"place\":{},\"files\":[]}", &err),
                     OUTCOME_READY);
    assert_string_equal(seen, "{\"code\":\"\",\"files\":[]}");
}

static void text_of_another_type_is_read(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(call_with("{\"code\":\"7\",\"timeout\":\"2.5\",\"files\":\"[\\\"a\\\"]\","
                               "\"place\":\"{\\\"kind\\\":\\\"1\\\",\\\"size\\\":\\\"3\\\"}\"}",
                               &err),
                     OUTCOME_READY);
    assert_string_equal(seen, "{\"code\":\"7\",\"timeout\":2.5,\"files\":[\"a\"],"
                              "\"place\":{\"kind\":\"1\",\"size\":3}}");
}

static void text_that_is_no_such_value_stays_what_it_is(void **state)
{
    static const char *const arguments[] = {"{\"code\":\"1\",\"timeout\":\"soon\"}",
                                            "{\"code\":\"1\",\"timeout\":\"[2]\"}",
                                            "{\"code\":\"1\",\"files\":\"a.txt\"}", "{\"code\":1}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
        struct error err = ERROR_INIT;

        assert_int_equal(call_with(arguments[i], &err), OUTCOME_FAILED);
        assert_non_null(strstr(err.message, " must be "));
    }
}

static void much_text_is_not_read(void **state)
{
    const size_t blanks = 256 * 1024;
    AUTO_FREE char *few =
        memory_format("{\"code\":\"1\",\"files\":\"[%*s]\"}", (int)blanks - 2, "");
    AUTO_FREE char *many =
        memory_format("{\"code\":\"1\",\"files\":\"[%*s]\"}", (int)blanks - 1, "");
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(call_with(few, &err), OUTCOME_READY);
    assert_int_equal(call_with(many, &err), OUTCOME_FAILED);
    assert_non_null(strstr(err.message, "files must be array, not string"));
}

static void other_nulls_are_what_they_are(void **state)
{
    static const char *const ARGUMENTS[] = {"{\"code\":null}", "{\"code\":\"1\",\"other\":null}",
                                            "{\"code\":\"1\",\"files\":[null]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(ARGUMENTS); i++) {
        struct error err = ERROR_INIT;

        assert_int_equal(call_with(ARGUMENTS[i], &err), OUTCOME_FAILED);
        assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
        assert_null(seen);
    }
}

static void missing_arguments_are_an_empty_object(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(call_with(NULL, &err), OUTCOME_FAILED);
    assert_string_equal(err.message, "arguments do not fit: the call is missing \"code\"");
}

static void every_misfit_is_named_in_one_message(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(call_with("{\"code\":1,\"timeot\":2,\"files\":[\"a\",{}]}", &err),
                     OUTCOME_FAILED);
    assert_non_null(strstr(err.message, "code must be string, not integer"));
    assert_non_null(
        strstr(err.message, "timeot: unknown key \"timeot\", did you mean \"timeout\"?"));
    assert_non_null(strstr(err.message, "files.1 must be string, not object"));
}

static void misfits_without_room_are_counted(void **state)
{
    AUTO_JSON json_t *arguments = json_pack("{s:s}", "code", "1");
    AUTO_FREE char *text = NULL;
    AUTO_FREE char *message = NULL;
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    (void)state;
    for (int i = 0; i < 50; i++) {
        AUTO_FREE char *key = memory_format("an_unknown_key_%d", i);

        json_object_set_new(arguments, key, json_null());
    }
    text = json_text(arguments);
    assert_int_equal(call_with(text, &err), OUTCOME_FAILED);
    message = error_text(&err);
    assert_non_null(strstr(message, "an_unknown_key_0: unknown key"));
    assert_non_null(strstr(message, " more problems"));
}

static void a_misfit_longer_than_the_message_is_cut_between_characters(void **state)
{
    AUTO_JSON json_t *arguments = json_pack("{s:s}", "code", "1");
    char key[1000];
    AUTO_FREE char *text = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    memset(key, 0, sizeof key);
    for (size_t i = 0; i + 3 < sizeof key; i += 3)
        memcpy(key + i, "\xE2\x82\xAC", 3);
    json_object_set_new(arguments, key, json_null());
    text = json_text(arguments);
    assert_int_equal(call_with(text, &err), OUTCOME_FAILED);
    assert_int_equal((strlen(err.message) - strlen("arguments do not fit: ")) % 3, 0);
}

static void an_unknown_tool_is_named(void **state)
{
    struct registry *registry = registry_new();
    struct invocation invocation = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(start_tool(&invocation, registry, "nobody", &err), OUTCOME_FAILED);
    assert_int_equal(err.code, ERROR_UNKNOWN_TOOL);
    assert_string_equal(err.message, "nobody");
    invocation_deinit(&invocation);
    registry_free(registry);
}

static void cancel_reaches_the_tool(void **state)
{
    struct registry *registry = one_tool(wait_for_it);
    AUTO_JSON json_t *arguments = json_pack("{s:s}", "code", "1");
    struct invocation invocation = {.arguments = arguments};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(start_tool(&invocation, registry, "t", &err), OUTCOME_PENDING);
    invocation.work = &invocation;
    invocation_cancel(&invocation);
    assert_null(invocation.work);
    invocation_deinit(&invocation);
    registry_free(registry);
}

static void logging_without_a_listener_frees_the_data(void **state)
{
    struct invocation invocation = {.name = "t"};

    (void)state;
    invocation_log(&invocation, SEVERITY_INFO, NULL, json_string("a"));
}

static int free_what_was_seen(void **state)
{
    (void)state;
    free(seen);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_nulls_of_optional_arguments_are_absent),
        cmocka_unit_test(nulls_inside_of_an_object_are_absent_too),
        cmocka_unit_test(empty_optional_arguments_are_absent_too),
        cmocka_unit_test(text_of_another_type_is_read),
        cmocka_unit_test(text_that_is_no_such_value_stays_what_it_is),
        cmocka_unit_test(much_text_is_not_read),
        cmocka_unit_test(other_nulls_are_what_they_are),
        cmocka_unit_test(missing_arguments_are_an_empty_object),
        cmocka_unit_test(every_misfit_is_named_in_one_message),
        cmocka_unit_test(misfits_without_room_are_counted),
        cmocka_unit_test(a_misfit_longer_than_the_message_is_cut_between_characters),
        cmocka_unit_test(an_unknown_tool_is_named),
        cmocka_unit_test(cancel_reaches_the_tool),
        cmocka_unit_test(logging_without_a_listener_frees_the_data),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, free_what_was_seen);
}
