#include "server/commands/provider_call.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define OPENAI                                                                                     \
    "{\"id\":\"i\",\"type\":\"function\",\"function\":{\"name\":\"n\",\"arguments\":"              \
    "\"{\\\"code\\\":\\\"c\\\"}\"}}"
#define RESPONSES                                                                                  \
    "{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"i\",\"name\":\"n\",\"arguments\":"    \
    "\"{\\\"code\\\":\\\"c\\\"}\",\"status\":\"completed\"}"
#define ANTHROPIC "{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"n\",\"input\":{\"code\":\"c\"}}"
#define GEMINI    "{\"functionCall\":{\"id\":\"i\",\"name\":\"n\",\"args\":{\"code\":\"c\"}}}"
#define GEMINI_OF_PYTHON                                                                           \
    "{\"function_call\":{\"id\":\"i\",\"name\":\"n\",\"args\":{\"code\":\"c\"}},\"text\":null}"
#define GEMINI_ALONE "{\"id\":\"i\",\"name\":\"n\",\"args\":{\"code\":\"c\"}}"

#define OPENAI_RESULT "{\"role\":\"tool\",\"tool_call_id\":\"i\",\"content\":\"a\\n\\nb\"}"
#define RESPONSES_RESULT                                                                           \
    "{\"type\":\"function_call_output\",\"call_id\":\"i\",\"output\":\"a\\n\\nb\"}"
#define ANTHROPIC_RESULT(ERROR)                                                                    \
    "{\"type\":\"tool_result\",\"tool_use_id\":\"i\",\"content\":\"a\\n\\nb\",\"is_error\":" ERROR \
    "}"
#define GEMINI_RESULT(KEY)                                                                         \
    "{\"functionResponse\":{\"id\":\"i\",\"name\":\"n\",\"response\":{\"" KEY "\":\"a\\n\\nb\"}}}"
#define GEMINI_RESULT_ALONE "{\"id\":\"i\",\"name\":\"n\",\"response\":{\"output\":\"a\\n\\nb\"}}"

static json_t *two_texts(void)
{
    return json_pack("[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}]", "type", "text", "text", "a", "type",
                     "resource_link", "uri", "x:y", "type", "text", "text", "b");
}

static json_t *text_and_image(void)
{
    return json_pack("[{s:s, s:s}, {s:s, s:s, s:s}]", "type", "text", "text", "a", "type", "image",
                     "mimeType", "image/png", "data", "QQ==");
}

static void assert_result(const struct provider_call *call, json_t *content /* taken */,
                          bool is_error, const char *expected)
{
    AUTO_JSON json_t *result = provider_call_result(call, content, is_error);
    AUTO_JSON json_t *wanted = json_loads(expected, 0, NULL);

    assert_non_null(wanted);
    if (!json_equal(result, wanted))
        fail_msg("%s", json_dumps(result, 0));
    json_decref(content);
}

static void test_each_call_is_known_by_its_form_and_answered_in_it(void **state)
{
    static const struct {
        const char *provider;
        const char *text;
        const char *result;
    } cases[] = {
        {"openai", OPENAI, OPENAI_RESULT},
        {"openai-responses", RESPONSES, RESPONSES_RESULT},
        {"anthropic", ANTHROPIC, ANTHROPIC_RESULT("false")},
        {"gemini", GEMINI, GEMINI_RESULT("output")},
        {"gemini", GEMINI_OF_PYTHON, GEMINI_RESULT("output")},
        {"gemini", GEMINI_ALONE, GEMINI_RESULT_ALONE},
    };

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
        const char *named = i % 2 ? cases[i / 2].provider : NULL;
        const char *text = cases[i / 2].text;
        struct provider_call call;
        struct error err = ERROR_INIT;

        if (provider_call_read(&call, text, strlen(text), named, &err) < 0)
            fail_msg("%s: %s", text, err.message);
        assert_string_equal(call.name, "n");
        assert_string_equal(json_object_get_string(call.arguments, "code"), "c");
        assert_result(&call, two_texts(), false, cases[i / 2].result);
        provider_call_deinit(&call);
    }
}

static void test_a_failure_is_marked_where_the_form_has_a_mark(void **state)
{
    struct provider_call call;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(provider_call_read(&call, ANTHROPIC, strlen(ANTHROPIC), NULL, &err), 0);
    assert_result(&call, two_texts(), true, ANTHROPIC_RESULT("true"));
    provider_call_deinit(&call);
    assert_int_equal(provider_call_read(&call, GEMINI, strlen(GEMINI), NULL, &err), 0);
    assert_result(&call, two_texts(), true, GEMINI_RESULT("error"));
    provider_call_deinit(&call);
}

static void test_pictures_go_where_the_form_takes_them(void **state)
{
    struct provider_call call;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(provider_call_read(&call, ANTHROPIC, strlen(ANTHROPIC), NULL, &err), 0);
    assert_true(provider_call_takes_images(&call));
    assert_result(&call, text_and_image(), false,
                  "{\"type\":\"tool_result\",\"tool_use_id\":\"i\",\"content\":[{\"type\":\"text\","
                  "\"text\":\"a\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\","
                  "\"media_type\":\"image/png\",\"data\":\"QQ==\"}}],\"is_error\":false}");
    provider_call_deinit(&call);
    assert_int_equal(provider_call_read(&call, RESPONSES, strlen(RESPONSES), NULL, &err), 0);
    assert_result(&call, text_and_image(), false,
                  "{\"type\":\"function_call_output\",\"call_id\":\"i\",\"output\":[{\"type\":"
                  "\"input_text\",\"text\":\"a\"},{\"type\":\"input_image\",\"detail\":\"auto\","
                  "\"image_url\":\"data:image/png;base64,QQ==\"}]}");
    provider_call_deinit(&call);
    assert_int_equal(provider_call_read(&call, OPENAI, strlen(OPENAI), NULL, &err), 0);
    assert_false(provider_call_takes_images(&call));
    assert_result(&call, text_and_image(), false,
                  "{\"role\":\"tool\",\"tool_call_id\":\"i\",\"content\":\"a\"}");
    provider_call_deinit(&call);
}

static void test_arguments_may_be_left_out(void **state)
{
    static const char *const texts[] = {
        "{\"id\":\"i\",\"type\":\"function\",\"function\":{\"name\":\"n\",\"arguments\":\"\"}}",
        "{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"n\"}",
        "{\"functionCall\":{\"name\":\"n\"}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct provider_call call;
        struct error err = ERROR_INIT;

        assert_int_equal(provider_call_read(&call, texts[i], strlen(texts[i]), NULL, &err), 0);
        assert_int_equal(json_object_size(call.arguments), 0);
        provider_call_deinit(&call);
    }
}

static void test_what_is_no_call_can_still_be_answered(void **state)
{
    static const struct {
        const char *provider;
        const char *text;
        const char *message;
        const char *result; /* of no content */
    } cases[] = {
        {NULL, "x", "the tool call is not valid JSON: ",
         "{\"role\":\"tool\",\"tool_call_id\":\"\",\"content\":\"\"}"},
        {"gemini", "", "standard input is empty: ",
         "{\"functionResponse\":{\"name\":\"\",\"response\":{\"error\":\"\"}}}"},
        {NULL, "[]", "this is not a tool call of ",
         "{\"role\":\"tool\",\"tool_call_id\":\"\",\"content\":\"\"}"},
        {"openai", ANTHROPIC, "this is a tool call of anthropic, not of openai",
         "{\"role\":\"tool\",\"tool_call_id\":\"i\",\"content\":\"\"}"},
        {"nobody", ANTHROPIC, "unknown provider nobody: ",
         "{\"type\":\"tool_result\",\"tool_use_id\":\"i\",\"content\":\"\",\"is_error\":true}"},
        {NULL, "{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"n\",\"input\":[1]}",
         "the arguments must be an object, not array",
         "{\"type\":\"tool_result\",\"tool_use_id\":\"i\",\"content\":\"\",\"is_error\":true}"},
        {NULL, "{\"type\":\"function_call\",\"call_id\":\"i\",\"name\":\"n\",\"arguments\":\"{\"}",
         "the arguments are not valid JSON: ",
         "{\"type\":\"function_call_output\",\"call_id\":\"i\",\"output\":\"\"}"},
        {NULL, "{\"type\":5,\"id\":7,\"functionCall\":{\"name\":[],\"args\":3}}",
         "the arguments must be an object",
         "{\"functionResponse\":{\"name\":\"\",\"response\":{\"error\":\"\"}}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct provider_call call;
        struct error err = ERROR_INIT;

        assert_int_equal(provider_call_read(&call, cases[i].text, strlen(cases[i].text),
                                            cases[i].provider, &err),
                         -1);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s", err.message);
        assert_result(&call, json_array(), true, cases[i].result);
        provider_call_deinit(&call);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_is_known_by_its_form_and_answered_in_it),
        cmocka_unit_test(test_a_failure_is_marked_where_the_form_has_a_mark),
        cmocka_unit_test(test_pictures_go_where_the_form_takes_them),
        cmocka_unit_test(test_arguments_may_be_left_out),
        cmocka_unit_test(test_what_is_no_call_can_still_be_answered),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
