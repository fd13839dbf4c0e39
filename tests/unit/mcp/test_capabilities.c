#include "server/mcp/capabilities.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/tools/prompt.h"
#include "server/tools/registry.h"
#include "server/tools/resource.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct scene {
    struct mcp_server server;
    struct mcp_peer peer;
};

static struct scene scene;

static int open_scene(void **state)
{
    (void)state;
    scene = (struct scene){
        .server = {.loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()}};
    mcp_server_init(&scene.server);
    mcp_peer_init(&scene.peer, &scene.server, &(struct mcp_peer_settings){.principal = "somebody"});
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

static enum outcome start(struct invocation *invocation, struct error *err)
{
    (void)invocation;
    (void)err;
    return OUTCOME_READY;
}

static void add_prompt(void)
{
    struct prompt prompt = {.name = "p", .start = start};
    struct error err = ERROR_INIT;

    assert_int_equal(prompt_register(scene.server.registry, &prompt, &err), 0);
}

static void add_template(void)
{
    struct resource template = {.uri = "a:{b}", .name = "t", .size = -1, .start = start};
    struct error err = ERROR_INIT;

    assert_int_equal(resource_register_template(scene.server.registry, &template, &err), 0);
}

static void expect(enum mcp_version version, const char *expected)
{
    AUTO_JSON json_t *capabilities = capabilities_of_server(&scene.peer, version);
    AUTO_FREE char *text = json_dumps(capabilities, JSON_COMPACT | JSON_SORT_KEYS);

    assert_string_equal(text, expected);
}

static enum error_code answer(const char *method)
{
    struct mcp_request request = {.peer = &scene.peer, .method = method};
    struct error err = ERROR_INIT;
    json_t *result = NULL;

    mcp_request_start(&request, &result, &err);
    json_decref(result);
    mcp_request_deinit(&request);
    return err.code;
}

static void what_is_not_registered_is_neither_declared_nor_served(void **state)
{
    static const char *const METHODS[] = {
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "completion/complete",
    };

    (void)state;
    expect(MCP_2025_11_25, "{\"logging\":{}}");
    scene.peer.negotiated = MCP_2025_11_25;
    for (size_t i = 0; i < ARRAY_SIZE(METHODS); i++)
        assert_int_equal(answer(METHODS[i]), ERROR_METHOD_NOT_FOUND);
}

static void what_is_registered_is_declared_as_the_revision_has_it(void **state)
{
    (void)state;
    add_prompt();
    expect(MCP_2024_11_05, "{\"logging\":{},\"prompts\":{\"listChanged\":true}}");
    expect(MCP_2025_03_26,
           "{\"completions\":{},\"logging\":{},\"prompts\":{\"listChanged\":true}}");
    add_template();
    expect(MCP_2026_07_28, "{\"completions\":{},\"logging\":{},\"prompts\":{\"listChanged\":true},"
                           "\"resources\":{\"listChanged\":true,\"subscribe\":true}}");
    scene.peer.negotiated = MCP_2024_11_05;
    assert_int_equal(answer("prompts/list"), ERROR_NONE);
    assert_int_equal(answer("resources/list"), ERROR_NONE);
    assert_int_equal(answer("completion/complete"), ERROR_INVALID_PARAMS);
    assert_int_equal(answer("tools/list"), ERROR_METHOD_NOT_FOUND);
}

static void what_was_declared_is_served_when_it_is_gone(void **state)
{
    (void)state;
    add_prompt();
    registry_remove(scene.server.registry, REGISTRY_PROMPTS, "p");
    scene.peer.negotiated = MCP_2025_11_25;
    assert_int_equal(answer("prompts/list"), ERROR_NONE);
}

/* What a client with CAPABILITIES (JSON text) can be asked for at VERSION: f(orm), u(rl), s, r. */
static void expect_client(enum mcp_version version, const char *capabilities, const char *expected)
{
    AUTO_JSON json_t *value = json_loads(capabilities, 0, NULL);
    struct mcp_request request = {.version = version, .capabilities = value};
    struct invocation_client client = capabilities_of_client(&request);
    char got[5] = "";

    snprintf(got, sizeof got, "%s%s%s%s", client.can_elicit ? "f" : "",
             client.can_elicit_url ? "u" : "", client.can_sample ? "s" : "",
             client.can_list_roots ? "r" : "");
    assert_string_equal(got, expected);
}

static void a_client_can_be_asked_for_what_it_declares_and_its_revision_has(void **state)
{
    static const char ALL[] =
        "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{},\"roots\":{}}";

    (void)state;
    expect_client(MCP_2026_07_28, "{}", "");
    expect_client(MCP_2026_07_28, ALL, "fusr");
    expect_client(MCP_2025_11_25, ALL, "fusr");
    expect_client(MCP_2025_06_18, ALL, "fsr");
    expect_client(MCP_2025_03_26, ALL, "sr");
    expect_client(MCP_2025_11_25, "{\"elicitation\":{}}", "f");
    expect_client(MCP_2025_11_25, "{\"elicitation\":{\"url\":{}}}", "u");
    expect_client(MCP_2025_11_25, "{\"elicitation\":true}", "");
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(what_is_not_registered_is_neither_declared_nor_served),
        TEST(what_is_registered_is_declared_as_the_revision_has_it),
        TEST(what_was_declared_is_served_when_it_is_gone),
        cmocka_unit_test(a_client_can_be_asked_for_what_it_declares_and_its_revision_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
