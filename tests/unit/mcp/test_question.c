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
        cmocka_unit_test(a_page_has_an_id_in_one_revision),
        cmocka_unit_test(a_model_is_asked_in_messages_of_one_block),
        cmocka_unit_test(roots_are_asked_for_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
