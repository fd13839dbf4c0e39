#include "server/mcp/question.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* QUESTION becomes EXPECTED at VERSION, and is itself as before. */
static void expect(enum mcp_version version, const char *question, const char *expected)
{
    AUTO_JSON json_t *asked = json_loads(question, 0, NULL);
    AUTO_JSON json_t *before = json_deep_copy(asked);
    AUTO_JSON json_t *wanted = json_loads(expected, 0, NULL);
    AUTO_JSON json_t *translated = question_translate(asked, version);
    AUTO_FREE char *text = json_text(translated);

    assert_non_null(wanted);
    assert_true(json_equal(asked, before));
    if (!json_equal(translated, wanted))
        fail_msg("%s", text);
}

static void a_form_has_what_its_revision_knows(void **state)
{
    static const char FORM[] =
        "{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"m\","
        "\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
        "\"a\":{\"type\":\"string\",\"default\":\"x\"},"
        "\"b\":{\"type\":\"boolean\",\"default\":true},"
        "\"c\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"1\",\"title\":\"One\"},"
        "{\"const\":\"2\",\"title\":\"Two\"}]}}}}}";

    (void)state;
    expect(MCP_2026_07_28, FORM, FORM);
    expect(MCP_2025_11_25, FORM, FORM);
    expect(
        MCP_2025_06_18, FORM,
        "{\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\","
        "\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
        "\"b\":{\"type\":\"boolean\",\"default\":true},"
        "\"c\":{\"type\":\"string\",\"enum\":[\"1\",\"2\"],\"enumNames\":[\"One\",\"Two\"]}}}}}");
}

/* A form with two fields of several choices, and one of another type. */
static const char SEVERAL[] =
    "{\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\",\"requestedSchema\":{"
    "\"type\":\"object\",\"properties\":{"
    "\"on\":{\"type\":\"array\",\"title\":\"On it\",\"description\":\"d\",\"default\":[\"egg\"],"
    "\"items\":{\"type\":\"string\",\"enum\":[\"ham\",\"egg\"]}},"
    "\"to\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"t\",\"title\":\"Tea\"}]}},"
    "\"name\":{\"type\":\"string\"}},\"required\":[\"on\",\"name\"]}}}";

static void several_choices_are_switches_before_there_were_lists(void **state)
{
    (void)state;
    expect(MCP_2025_11_25, SEVERAL, SEVERAL);
    expect(MCP_2025_06_18, SEVERAL,
           "{\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\","
           "\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
           "\"on.ham\":{\"type\":\"boolean\",\"title\":\"On it: ham\",\"description\":\"d\","
           "\"default\":false},"
           "\"on.egg\":{\"type\":\"boolean\",\"title\":\"On it: egg\",\"description\":\"d\","
           "\"default\":true},"
           "\"to.t\":{\"type\":\"boolean\",\"title\":\"to: Tea\",\"default\":false},"
           "\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}}");
}

/* ANSWER to the question SEVERAL from a client of VERSION arrives as EXPECTED. */
static void expect_answer(enum mcp_version version, const char *answer, const char *expected)
{
    AUTO_JSON json_t *asked = json_loads(SEVERAL, 0, NULL);
    AUTO_JSON json_t *given = json_loads(answer, 0, NULL);
    AUTO_JSON json_t *wanted = json_loads(expected, 0, NULL);
    AUTO_JSON json_t *restored = question_restore(asked, version, given);
    AUTO_FREE char *text = json_text(restored);

    assert_non_null(wanted);
    if (!json_equal(restored, wanted))
        fail_msg("%s", text);
}

static void what_is_switched_on_arrives_as_a_list(void **state)
{
    static const char LIST[] = "{\"action\":\"accept\",\"content\":{\"on\":[\"ham\"],"
                               "\"to\":[],\"name\":\"Ada\"}}";
    static const char DECLINED[] = "{\"action\":\"decline\"}";

    (void)state;
    expect_answer(MCP_2025_06_18,
                  "{\"action\":\"accept\",\"content\":{\"on.ham\":true,\"on.egg\":false,"
                  "\"name\":\"Ada\"}}",
                  LIST);
    expect_answer(MCP_2025_11_25, LIST, LIST);
    expect_answer(MCP_2025_06_18, DECLINED, DECLINED);
}

static void a_page_has_an_id_in_one_revision(void **state)
{
    static const char PAGE[] =
        "{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\",\"message\":\"m\","
        "\"url\":\"https://a\",\"elicitationId\":\"1\"}}";

    (void)state;
    expect(MCP_2025_11_25, PAGE, PAGE);
    expect(MCP_2026_07_28, PAGE,
           "{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\",\"message\":\"m\","
           "\"url\":\"https://a\"}}");
}

static void a_model_is_asked_in_messages_of_one_block(void **state)
{
    static const char SAMPLING[] =
        "{\"method\":\"sampling/createMessage\",\"params\":{\"maxTokens\":1,\"tools\":[],"
        "\"toolChoice\":{\"mode\":\"auto\"},\"messages\":["
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
        "{\"type\":\"audio\",\"data\":\"AA==\",\"mimeType\":\"audio/wav\"}]},"
        "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"b\"}}]}}";

    (void)state;
    expect(MCP_2025_11_25, SAMPLING, SAMPLING);
    expect(MCP_2024_11_05, SAMPLING,
           "{\"method\":\"sampling/createMessage\",\"params\":{\"maxTokens\":1,\"messages\":["
           "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"a\"}},"
           "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
           "\"[audio audio/wav, which this protocol revision cannot carry]\"}},"
           "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"b\"}}]}}");
}

static void roots_are_asked_for_alike(void **state)
{
    static const char ROOTS[] = "{\"method\":\"roots/list\",\"params\":{}}";

    (void)state;
    for (enum mcp_version version = MCP_2024_11_05; version < MCP_VERSIONS; version++)
        expect(version, ROOTS, ROOTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_has_what_its_revision_knows),
        cmocka_unit_test(several_choices_are_switches_before_there_were_lists),
        cmocka_unit_test(what_is_switched_on_arrives_as_a_list),
        cmocka_unit_test(a_page_has_an_id_in_one_revision),
        cmocka_unit_test(a_model_is_asked_in_messages_of_one_block),
        cmocka_unit_test(roots_are_asked_for_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
