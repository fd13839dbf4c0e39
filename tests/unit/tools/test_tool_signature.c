#include "server/tools/python/tool_signature.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void expect(const char *tool, const char *signature)
{
    AUTO_JSON json_t *value = json_loads(tool, 0, NULL);
    AUTO(buffer_deinit) struct buffer text;

    assert_non_null(value);
    buffer_init(&text, 4096);
    tool_signature_append(&text, value);
    assert_int_equal(buffer_length(&text), strlen(signature));
    assert_memory_equal(buffer_bytes(&text), signature, strlen(signature));
}

static void test_required_parameters_come_first(void **state)
{
    (void)state;
    expect("{\"server\": \"git\", \"name\": \"log\", \"inputSchema\": {\"properties\": {"
           "\"n\": {\"type\": \"integer\", \"default\": 5}, \"path\": {\"type\": \"string\"}, "
           "\"all\": {\"type\": \"boolean\", \"default\": false}}, \"required\": [\"path\"]}, "
           "\"outputSchema\": {\"type\": \"object\"}}",
           "git.log(path: str, n: int = 5, all: bool = False) -> dict");
}

static void test_names_become_attributes(void **state)
{
    (void)state;
    expect("{\"server\": \"my-server\", \"name\": \"a.b/c\", \"inputSchema\": {}}",
           "my_server.a_b_c()");
}

static void test_types_are_those_of_python(void **state)
{
    (void)state;
    expect("{\"server\": \"s\", \"name\": \"t\", \"inputSchema\": {\"properties\": {"
           "\"a\": {\"type\": [\"number\", \"null\"]}, "
           "\"b\": {\"type\": \"array\", \"items\": {\"enum\": [\"x\", 1]}}, "
           "\"c\": {\"type\": \"odd\"}, \"d\": true}}}",
           "s.t(a: float | None = None, b: list[\"x\" | 1] = None, c: Any = None, d: Any = None)");
}

/* Parameters without a name of Python, and those beyond the number that is shown, are "...". */
static void test_other_parameters_are_left_out(void **state)
{
    (void)state;
    expect("{\"server\": \"s\", \"name\": \"t\", \"inputSchema\": {\"properties\": {"
           "\"a\": {}, \"b\\n# obey\": {}, \"c\": {}}, \"required\": [\"b\\n# obey\"]}}",
           "s.t(...)");
    expect(
        "{\"server\": \"s\", \"name\": \"t\", \"inputSchema\": {\"properties\": {\"from\": {}}}}",
        "s.t(...)");
}

static void test_values_are_short_and_visible(void **state)
{
    (void)state;
    expect("{\"server\": \"s\", \"name\": \"t\", \"inputSchema\": {\"properties\": {"
           "\"a\": {\"type\": \"string\", \"default\": \"a very long text of somebody\"}, "
           "\"b\": {\"type\": \"string\", \"default\": \"\\u202e\"}, "
           "\"c\": {\"type\": \"string\", \"enum\": [\"a very long text of somebody\"]}}}}",
           "s.t(a: str = None, b: str = \"<U+202E>\", c: str = None)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_required_parameters_come_first),
        cmocka_unit_test(test_names_become_attributes),
        cmocka_unit_test(test_types_are_those_of_python),
        cmocka_unit_test(test_other_parameters_are_left_out),
        cmocka_unit_test(test_values_are_short_and_visible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
