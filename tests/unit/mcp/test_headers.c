#include "server/mcp/headers.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

/* Header fields as text: "Name: value\n..." */
struct fields {
    struct mcp_headers headers;
    const char *text;
    char value[256]; /* of the last one that was found */
};

struct scene {
    struct mcp_server server;
    struct mcp_peer peer;
    unsigned started;
};

static struct scene scene;

static const char *find(const struct mcp_headers *headers, const char *name, unsigned *ret_count)
{
    struct fields *fields = CONTAINER_OF(headers, struct fields, headers);
    size_t length = strlen(name);

    *ret_count = 0;
    for (const char *line = fields->text; *line; line = strchr(line, '\n') + 1) {
        if (strncasecmp(line, name, length) != 0 || line[length] != ':')
            continue;
        if ((*ret_count)++ == 0)
            snprintf(fields->value, sizeof fields->value, "%.*s",
                     (int)strcspn(line + length + 2, "\n"), line + length + 2);
    }
    return *ret_count > 0 ? fields->value : NULL;
}

static enum outcome start(struct invocation *invocation, struct error *err)
{
    (void)invocation;
    (void)err;
    scene.started++;
    return OUTCOME_READY;
}

static int open_scene(void **state)
{
    struct tool tool = {.name = "t", .description = "d", .start = start};
    struct error err = ERROR_INIT;

    (void)state;
    scene = (struct scene){
        .server = {.loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()}};
    tool.input_schema =
        json_loads("{\"type\":\"object\",\"properties\":{"
                   " \"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
                   " \"inner\":{\"type\":\"object\",\"properties\":{"
                   "  \"count\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"}}}}}",
                   0, NULL);
    assert_int_equal(tool_register_function(scene.server.registry, &tool, &err), 0);
    mcp_server_init(&scene.server);
    mcp_peer_init(&scene.peer, &scene.server,
                  &(struct mcp_peer_settings){.principal = "somebody", .stateless = true});
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    mcp_peer_deinit(&scene.peer);
    mcp_server_deinit(&scene.server);
    registry_free(scene.server.registry);
    return 0;
}

/* What METHOD with PARAMS (JSON text) and header fields TEXT, beside the version's, comes to. */
static enum error_code answer(const char *method, const char *params, const char *text)
{
    char all[1024];
    struct fields fields = {.headers = {.find = find}, .text = all};
    AUTO_JSON json_t *value = json_loads(params, 0, NULL);
    AUTO_JSON json_t *result = NULL;
    struct mcp_request request = {
        .peer = &scene.peer, .method = method, .params = value, .headers = &fields.headers};
    struct error err = ERROR_INIT;

    assert_non_null(value);
    snprintf(all, sizeof all, "MCP-Protocol-Version: 2026-07-28\n%s", text);
    json_object_set_new(value, "_meta",
                        json_pack("{s:s, s:{}}", "io.modelcontextprotocol/protocolVersion",
                                  "2026-07-28", "io.modelcontextprotocol/clientCapabilities"));
    mcp_request_start(&request, &result, &err);
    mcp_request_deinit(&request);
    return err.code;
}

static void the_method_is_named_once_and_exactly(void **state)
{
    (void)state;
    assert_int_equal(answer("tools/list", "{}", "mcp-METHOD: tools/list\n"), ERROR_NONE);
    assert_int_equal(answer("tools/list", "{}", ""), ERROR_HEADER_MISMATCH);
    assert_int_equal(answer("tools/list", "{}", "Mcp-Method: TOOLS/LIST\n"), ERROR_HEADER_MISMATCH);
    assert_int_equal(answer("tools/list", "{}", "Mcp-Method: tools/call\n"), ERROR_HEADER_MISMATCH);
    assert_int_equal(answer("tools/list", "{}", "Mcp-Method: tools/list\nMcp-Method: tools/list\n"),
                     ERROR_HEADER_MISMATCH);
}

static void fields_are_checked_before_it_is_asked_whether_there_is_such_a_method(void **state)
{
    (void)state;
    assert_int_equal(answer("no/such", "{}", "Mcp-Method: no/such\n"), ERROR_METHOD_NOT_FOUND);
    assert_int_equal(answer("no/such", "{}", ""), ERROR_HEADER_MISMATCH);
}

static void what_a_method_is_about_is_named(void **state)
{
    static const struct {
        const char *method;
        const char *params;
    } CASES[] = {
        {"tools/call", "{\"name\":\"a\"}"},     {"prompts/get", "{\"name\":\"a\"}"},
        {"resources/read", "{\"uri\":\"a\"}"},  {"tasks/get", "{\"taskId\":\"a\"}"},
        {"tasks/update", "{\"taskId\":\"a\"}"}, {"tasks/cancel", "{\"taskId\":\"a\"}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        static const struct {
            const char *field;
            bool fits;
        } FIELDS[] = {
            {"", false},
            {"Mcp-Name: a\n", true},
            {"Mcp-Name: A\n", false},
            {"Mcp-Name: b\n", false},
            {"Mcp-Name: =?base64?YQ==?=\n", true},
            {"Mcp-Name: =?base64?YQ?=\n", false},
            {"Mcp-Name: a\nMcp-Name: a\n", false},
        };

        for (size_t j = 0; j < ARRAY_SIZE(FIELDS); j++) {
            char text[256];

            snprintf(text, sizeof text, "Mcp-Method: %s\n%s", CASES[i].method, FIELDS[j].field);
            assert_int_equal(answer(CASES[i].method, CASES[i].params, text) ==
                                 ERROR_HEADER_MISMATCH,
                             !FIELDS[j].fits);
        }
    }
}

static void a_name_that_is_none_is_the_business_of_the_method(void **state)
{
    (void)state;
    assert_int_equal(answer("tools/call", "{}", "Mcp-Method: tools/call\n"), ERROR_INVALID_PARAMS);
    assert_int_equal(answer("tools/call", "{\"name\":1}", "Mcp-Method: tools/call\n"),
                     ERROR_INVALID_PARAMS);
}

#define CALL "Mcp-Method: tools/call\nMcp-Name: t\n"

static void arguments_that_are_annotated_are_repeated(void **state)
{
    static const struct {
        const char *arguments;
        const char *fields;
        bool fits;
    } CASES[] = {
        {"{}", "", true},
        {"{\"region\":null}", "", true},
        {"{\"region\":\"eu\"}", "", false},
        {"{\"region\":\"eu\"}", "Mcp-Param-Region: eu\n", true},
        {"{\"region\":\"eu\"}", "mcp-param-REGION: eu\n", true},
        {"{\"region\":\"eu\"}", "Mcp-Param-Region: us\n", false},
        {"{\"region\":\"eu\"}", "Mcp-Param-Region: eu\nMcp-Param-Region: eu\n", false},
        {"{\"region\":\"eu\"}", "Mcp-Param-Region: =?base64?ZXU=?=\n", true},
        {"{\"region\":\"eu\"}", "Mcp-Param-Region: =?base64?ZXU?=\n", false},
        {"{}", "Mcp-Param-Region: eu\n", false},
        {"{}", "Mcp-Param-Other: eu\n", true},
        {"{\"inner\":{\"count\":42}}", "", false},
        {"{\"inner\":{\"count\":42}}", "Mcp-Param-Count: 42.0\n", true},
        {"{\"inner\":{\"count\":42}}", "Mcp-Param-Count: 43\n", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        char params[256];
        char text[256];
        unsigned before = scene.started;

        snprintf(params, sizeof params, "{\"name\":\"t\",\"arguments\":%s}", CASES[i].arguments);
        snprintf(text, sizeof text, CALL "%s", CASES[i].fields);
        assert_int_equal(answer("tools/call", params, text),
                         CASES[i].fits ? ERROR_NONE : ERROR_HEADER_MISMATCH);
        assert_int_equal(scene.started - before, CASES[i].fits ? 1 : 0);
    }
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(the_method_is_named_once_and_exactly),
        TEST(fields_are_checked_before_it_is_asked_whether_there_is_such_a_method),
        TEST(what_a_method_is_about_is_named),
        TEST(a_name_that_is_none_is_the_business_of_the_method),
        TEST(arguments_that_are_annotated_are_repeated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
