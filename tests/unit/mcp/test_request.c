/* Requests without the JSON-RPC around them. What each method answers is in tests/transcripts. */

#include "base/json.h"
#include "base/list.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/tools/registry.h"
#include "tests/fixture/tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define ENVELOPE(VERSION)                                                                          \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" VERSION "\","                      \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

struct scene {
    struct mcp_server server;
    struct fixture fixture;
    struct mcp_peer peer;
    struct mcp_request request;
    json_t *params; /* owned */
    json_t *result; /* owned: of `done` */
    struct error error;
    unsigned done;
    unsigned notified;
};

static void on_notify(struct mcp_request *request, const char *method, json_t *params)
{
    CONTAINER_OF(request, struct scene, request)->notified++;
    assert_non_null(method);
    json_decref(params);
}

static void on_done(struct mcp_request *request, json_t *result, const struct error *err)
{
    struct scene *scene = CONTAINER_OF(request, struct scene, request);

    scene->done++;
    scene->result = result;
    if (err)
        error_copy(&scene->error, err);
}

static int open_scene(void **state)
{
    static struct scene scene;

    scene = (struct scene){
        .server = {.loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()}};
    mcp_server_init(&scene.server);
    fixture_init(&scene.fixture, scene.server.registry);
    mcp_peer_init(&scene.peer, &scene.server,
                  &(struct mcp_peer_settings){.principal = "somebody", .lasting = true});
    *state = &scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;

    mcp_request_deinit(&scene->request);
    mcp_peer_deinit(&scene->peer);
    mcp_server_deinit(&scene->server);
    registry_free(scene->server.registry);
    json_decref(scene->params);
    json_decref(scene->result);
    return 0;
}

/* Starts METHOD with PARAMS (JSON text); a result that is there at once goes to the scene. */
static enum outcome start(struct scene *scene, const char *method, const char *params)
{
    enum outcome outcome;

    mcp_request_deinit(&scene->request);
    json_decref(scene->params);
    json_decref(scene->result);
    scene->params = json_loads(params, 0, NULL);
    scene->result = NULL;
    scene->error = (struct error)ERROR_INIT;
    scene->request = (struct mcp_request){
        .peer = &scene->peer,
        .method = method,
        .params = scene->params,
        .notify = on_notify,
        .done = on_done,
    };
    outcome = mcp_request_start(&scene->request, &scene->result, &scene->error);
    if (scene->request.text)
        scene->result = json_loads(scene->request.text, 0, NULL);
    assert_int_equal(outcome == OUTCOME_FAILED, scene->error.code != ERROR_NONE);
    assert_int_equal(outcome == OUTCOME_READY, scene->result != NULL);
    return outcome;
}

static void a_peer_has_no_version_before_initialize(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(scene->peer.negotiated, MCP_VERSION_NONE);
    assert_int_equal(start(scene, "tools/list", "{}"), OUTCOME_FAILED);
    assert_int_equal(scene->error.code, ERROR_INVALID_REQUEST);
    assert_int_equal(start(scene, "initialize", "{\"protocolVersion\":\"2025-03-26\"}"),
                     OUTCOME_READY);
    assert_int_equal(scene->peer.negotiated, MCP_2025_03_26);
    assert_int_equal(start(scene, "tools/list", "{}"), OUTCOME_READY);
}

static void only_one_version_has_batches(void **state)
{
    struct scene *scene = *state;

    for (enum mcp_version version = MCP_VERSION_NONE; version < MCP_VERSIONS; version++) {
        scene->peer.negotiated = version;
        assert_int_equal(mcp_peer_allows_batch(&scene->peer), version == MCP_2025_03_26);
    }
}

static void a_request_that_stands_alone_leaves_the_peer_as_it_is(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(start(scene, "tools/list", "{" ENVELOPE("2026-07-28") "}"), OUTCOME_READY);
    assert_int_equal(scene->peer.negotiated, MCP_VERSION_NONE);
}

static void a_version_that_is_not_served_comes_with_those_that_are(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(start(scene, "tools/list", "{" ENVELOPE("1999-12-31") "}"), OUTCOME_FAILED);
    assert_int_equal(scene->error.code, ERROR_UNSUPPORTED_VERSION);
    assert_string_equal(json_object_get_string(scene->request.error_data, "requested"),
                        "1999-12-31");
    assert_int_equal(json_array_size(json_object_get(scene->request.error_data, "supported")), 5);
}

static void a_cancelled_request_is_forgotten_by_its_tool(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(
        start(scene, "tools/call",
              "{\"name\":\"hold\",\"arguments\":{\"name\":\"a\"}," ENVELOPE("2026-07-28") "}"),
        OUTCOME_PENDING);
    assert_false(list_is_empty(&scene->fixture.held));
    mcp_request_cancel(&scene->request);
    assert_true(list_is_empty(&scene->fixture.held));
    assert_int_equal(scene->done, 0);
    assert_int_equal(scene->notified, 0);
}

static void a_pending_request_ends_once_with_its_result(void **state)
{
    struct scene *scene = *state;
    AUTO_JSON json_t *params =
        json_loads("{\"name\":\"release\",\"arguments\":{\"name\":\"a\"}}", 0, NULL);
    AUTO_JSON json_t *released = NULL;
    struct mcp_request release = {
        .peer = &scene->peer, .method = "tools/call", .params = params, .notify = on_notify};
    struct error err = ERROR_INIT;

    scene->peer.negotiated = MCP_2025_11_25;
    assert_int_equal(
        start(scene, "tools/call", "{\"name\":\"hold\",\"arguments\":{\"name\":\"a\"}}"),
        OUTCOME_PENDING);
    assert_int_equal(mcp_request_start(&release, &released, &err), OUTCOME_READY);
    assert_int_equal(scene->done, 1);
    assert_non_null(scene->result);
    assert_int_equal(scene->error.code, ERROR_NONE);
    assert_int_equal(scene->notified, 0);
    mcp_request_deinit(&release);
}

static void a_slow_peer_is_told_nothing_on_the_way(void **state)
{
    struct scene *scene = *state;

    scene->peer.negotiated = MCP_2025_11_25;
    scene->peer.slow = true;
    assert_int_equal(start(scene, "tools/call",
                           "{\"name\":\"progress\",\"arguments\":{\"steps\":[1,2]},"
                           "\"_meta\":{\"progressToken\":1}}"),
                     OUTCOME_READY);
    assert_int_equal(
        start(scene, "tools/call", "{\"name\":\"log\",\"arguments\":{\"level\":0,\"data\":1}}"),
        OUTCOME_READY);
    assert_int_equal(scene->notified, 0);
    scene->peer.slow = false;
    assert_int_equal(start(scene, "tools/call",
                           "{\"name\":\"progress\",\"arguments\":{\"steps\":[1,2]},"
                           "\"_meta\":{\"progressToken\":1}}"),
                     OUTCOME_READY);
    assert_int_equal(scene->notified, 2);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_scene, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_peer_has_no_version_before_initialize),
        TEST(only_one_version_has_batches),
        TEST(a_request_that_stands_alone_leaves_the_peer_as_it_is),
        TEST(a_version_that_is_not_served_comes_with_those_that_are),
        TEST(a_cancelled_request_is_forgotten_by_its_tool),
        TEST(a_pending_request_ends_once_with_its_result),
        TEST(a_slow_peer_is_told_nothing_on_the_way),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
