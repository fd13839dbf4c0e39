#include "base/protocol/tool_headers.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void annotations_are_found_where_clients_look(void **state)
{
    AUTO_JSON json_t *schema =
        json_loads("{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},"
                   " \"b\":{\"type\":\"object\",\"properties\":{"
                   "  \"properties\":{\"type\":\"boolean\",\"x-mcp-header\":\"B-c\"}}},"
                   " \"x-mcp-header\":{\"type\":\"string\"},"
                   " \"d\":{\"type\":\"object\",\"default\":{\"x-mcp-header\":\"D\"},"
                   "        \"examples\":[{\"x-mcp-header\":\"D\"}]}}}",
                   0, NULL);
    AUTO_JSON json_t *expected =
        json_loads("[[\"A\",\"a\"],[\"B-c\",\"b\",\"properties\"]]", 0, NULL);
    AUTO_JSON json_t *found = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(tool_headers_read(schema, &found, &err), 0);
    assert_true(json_equal(found, expected));
}

static void most_tools_have_none(void **state)
{
    AUTO_JSON json_t *schema = json_pack("{s:s}", "type", "object");
    json_t *found = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(tool_headers_read(schema, &found, &err), 0);
    assert_null(found);
}

static void annotations_that_clients_cannot_follow_are_refused(void **state)
{
    static const char *const BAD[] = {
        "{'type':'object','x-mcp-header':'A'}",
        "{'properties':{'a':{'type':'string','x-mcp-header':''}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':'a b'}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':'a:'}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':'\\u00e4'}}}",
        "{'properties':{'a':{'type':'string','x-mcp-header':1}}}",
        "{'properties':{'a':{'type':'number','x-mcp-header':'A'}}}",
        "{'properties':{'a':{'type':['string','null'],'x-mcp-header':'A'}}}",
        "{'properties':{'a':{'x-mcp-header':'A'}}}",
        ("{'properties':{'a':{'type':'string','x-mcp-header':'A'},"
         "               'b':{'type':'string','x-mcp-header':'a'}}}"),
        "{'properties':{'a':{'items':{'type':'string','x-mcp-header':'A'}}}}",
        "{'properties':{'a':{'items':{'properties':{'b':{'type':'string','x-mcp-header':'A'}}}}}}",
        "{'anyOf':[{'properties':{'a':{'type':'string','x-mcp-header':'A'}}}]}",
        "{'$defs':{'a':{'type':'string','x-mcp-header':'A'}}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
        AUTO_FREE char *text = strdup(BAD[i]);
        AUTO_JSON json_t *schema = NULL;
        json_t *found = NULL;
        struct error err = ERROR_INIT;

        for (char *quote = text; (quote = strchr(quote, '\'')); quote++)
            *quote = '"';
        schema = json_loads(text, 0, NULL);
        assert_non_null(schema);
        if (tool_headers_read(schema, &found, &err) != -1)
            fail_msg("%s", BAD[i]);
        assert_int_equal(err.code, ERROR_CONFIG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotations_are_found_where_clients_look),
        cmocka_unit_test(most_tools_have_none),
        cmocka_unit_test(annotations_that_clients_cannot_follow_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
