#include "base/protocol/message.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What TEXT is; *RET_VALUE is what MESSAGE borrows from. */
static int read_text(const char *text, struct message *message, json_t **ret_value,
                     struct error *err)
{
    AUTO_FREE char *copy = memory_copy_string(text);
    AUTO(scan_deinit) struct scan scan = {0};

    *message = (struct message){0};
    *ret_value = message_parse(copy, strlen(copy), &scan, err);
    if (!*ret_value)
        return -1;
    return message_read(message, *ret_value, &scan, 0, err);
}

static void assert_error_number(const struct error *err, int number)
{
    AUTO_FREE char *text = message_error("1", err, NULL);
    AUTO_JSON json_t *message = json_loads(text, 0, NULL);

    assert_int_equal(json_integer_value(json_object_get(json_object_get(message, "error"), "code")),
                     number);
}

static void messages_are_what_their_members_say(void **state)
{
    static const struct {
        const char *text;
        enum message_kind kind;
        const char *id;
    } CASES[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", MESSAGE_REQUEST, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":-0,\"method\":\"m\",\"params\":{}}", MESSAGE_REQUEST, "0"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\"}", MESSAGE_REQUEST, "\"\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\\u0000\",\"method\":\"m\"}", MESSAGE_REQUEST,
         "\"a\\u0000\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":98765432109876543210,\"method\":\"m\"}", MESSAGE_REQUEST,
         "98765432109876543210"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", MESSAGE_NOTIFICATION, NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[]}", MESSAGE_NOTIFICATION, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", MESSAGE_RESPONSE, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", MESSAGE_RESPONSE, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":{}}", MESSAGE_REQUEST, "1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        AUTO_JSON json_t *value = NULL;
        struct message message;
        struct error err = ERROR_INIT;

        assert_int_equal(read_text(CASES[i].text, &message, &value, &err), 0);
        assert_int_equal(message.kind, CASES[i].kind);
        if (CASES[i].id)
            assert_string_equal(message.id, CASES[i].id);
        else
            assert_null(message.id);
        message_deinit(&message);
    }
}

static void what_is_wrong_is_answered_with_the_id_if_it_can_be(void **state)
{
    static const struct {
        const char *text;
        int number;
        const char *id;
    } CASES[] = {
        {"", -32700, NULL},
        {"{", -32700, NULL},
        {"{\"a\":1,\"a\":2}", -32700, NULL},
        {"\"\\ud800\"", -32700, NULL},
        {"1 2", -32700, NULL},
        {"1", -32600, NULL},
        {"null", -32600, NULL},
        {"{}", -32600, NULL},
        {"{\"id\":1,\"method\":\"m\"}", -32600, "1"},
        {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", -32600, "1"},
        {"{\"jsonrpc\":\"2.0\\u0000\",\"id\":1,\"method\":\"m\"}", -32600, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1}", -32600, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", -32600, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", -32600, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"m\"}", -32600, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", -32602, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", -32602, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\\u0000x\"}", -32601, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{}}", -32600, NULL},
        {"{\"jsonrpc\":\"2.0\",\"result\":1}", -32600, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        AUTO_JSON json_t *value = NULL;
        struct message message;
        struct error err = ERROR_INIT;

        assert_int_equal(read_text(CASES[i].text, &message, &value, &err), -1);
        assert_error_number(&err, CASES[i].number);
        if (CASES[i].id)
            assert_string_equal(message.id, CASES[i].id);
        else
            assert_null(message.id);
        message_deinit(&message);
    }
}

static void ids_have_a_longest_length(void **state)
{
    AUTO_FREE char *text = memory_new(MESSAGE_ID_BYTES + 1, 1);
    AUTO_JSON json_t *fits = NULL;
    AUTO_JSON json_t *does_not = NULL;
    char *id;

    (void)state;
    memset(text, 'a', MESSAGE_ID_BYTES);
    fits = json_stringn(text, MESSAGE_ID_BYTES - 2);
    does_not = json_stringn(text, MESSAGE_ID_BYTES - 1);
    id = message_id_text(fits, NULL);
    assert_non_null(id);
    free(id);
    assert_null(message_id_text(does_not, NULL));
}

static void digits_count_only_for_a_number_that_was_overwritten(void **state)
{
    AUTO_JSON json_t *overwritten = json_real(1e308);
    AUTO_JSON json_t *string = json_string("a");
    char *id = message_id_text(overwritten, "99999999999999999999");

    (void)state;
    assert_string_equal(id, "99999999999999999999");
    free(id);
    assert_null(message_id_text(overwritten, NULL));
    id = message_id_text(string, "99999999999999999999");
    assert_string_equal(id, "\"a\"");
    free(id);
}

static void answers_are_one_line_and_valid(void **state)
{
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *result = json_pack("{s:s}", "text", "a\nb\r");
    AUTO_JSON json_t *data = json_pack("[i]", 1);
    AUTO_FREE char *success = message_result("\"x\"", result);
    AUTO_FREE char *failure = NULL;
    AUTO_FREE char *nobody = NULL;
    AUTO_FREE char *notification = message_notification("n", result);

    (void)state;
    error_set(&err, ERROR_METHOD_NOT_FOUND, "a\n\xff");
    failure = message_error("7", &err, data);
    nobody = message_error(NULL, &err, NULL);
    assert_string_equal(success,
                        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"text\":\"a\\nb\\r\"}}");
    assert_string_equal(failure, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,"
                                 "\"message\":\"Method not found: a\\n\xEF\xBF\xBD\","
                                 "\"data\":[1]}}");
    assert_string_equal(nobody, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,"
                                "\"message\":\"Method not found: a\\n\xEF\xBF\xBD\"}}");
    assert_string_equal(
        notification, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"text\":\"a\\nb\\r\"}}");
}

static void codes_without_a_number_are_internal_errors(void **state)
{
    struct error err = {.code = ERROR_SYSTEM};

    (void)state;
    assert_error_number(&err, -32603);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_what_their_members_say),
        cmocka_unit_test(what_is_wrong_is_answered_with_the_id_if_it_can_be),
        cmocka_unit_test(ids_have_a_longest_length),
        cmocka_unit_test(digits_count_only_for_a_number_that_was_overwritten),
        cmocka_unit_test(answers_are_one_line_and_valid),
        cmocka_unit_test(codes_without_a_number_are_internal_errors),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
