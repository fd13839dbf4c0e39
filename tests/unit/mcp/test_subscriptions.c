#include "server/mcp/subscriptions.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/mcp/subscriber.h"
#include "server/tools/registry.h"
#include "tests/fixture/tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

enum { LISTENERS = 2 };

/* A peer, what it listens to, and what it was told: one line each. */
struct scene {
    struct mcp_server server;
    struct fixture fixture;
    struct mcp_peer peer;
    struct mcp_request requests[LISTENERS];
    json_t *params[LISTENERS]; /* owned */
    struct error error;
    char told[4096];
};

static struct scene scene;

static void note(const char *kind, const char *method, json_t *value)
{
    AUTO_FREE char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    size_t used = strlen(scene.told);

    snprintf(scene.told + used, sizeof scene.told - used, "%s %s %s\n", kind, method, text);
    json_decref(value);
}

static void on_notify(struct mcp_request *request, const char *method, json_t *params)
{
    assert_non_null(request);
    note("request", method, params);
}

static void on_peer_notify(struct mcp_peer *peer, const char *method, json_t *params)
{
    assert_ptr_equal(peer, &scene.peer);
    note("peer", method, params);
}

static void on_done(struct mcp_request *request, json_t *result, const struct error *err)
{
    assert_null(err);
    json_object_del(json_object_get(result, "_meta"), "io.modelcontextprotocol/serverInfo");
    note("done", request->method, result);
    mcp_request_deinit(request);
}

static int open_scene(void **state)
{
    (void)state;
    scene = (struct scene){
        .server = {.loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()}};
    mcp_server_init(&scene.server);
    fixture_init(&scene.fixture, scene.server.registry);
    mcp_peer_init(&scene.peer, &scene.server, &(struct mcp_peer_settings){.principal = "somebody"});
    scene.peer.notify = on_peer_notify;
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    for (size_t i = 0; i < LISTENERS; i++) {
        mcp_request_deinit(&scene.requests[i]);
        json_decref(scene.params[i]);
    }
    mcp_peer_deinit(&scene.peer);
    mcp_server_deinit(&scene.server);
    registry_free(scene.server.registry);
    return 0;
}

/* Starts request I with ID and PARAMS (JSON text). */
static enum outcome start(size_t i, const char *id, const char *method, const char *params)
{
    json_t *result = NULL;
    enum outcome outcome;

    mcp_request_deinit(&scene.requests[i]);
    json_decref(scene.params[i]);
    scene.params[i] = json_loads(params, 0, NULL);
    assert_non_null(scene.params[i]);
    scene.error = (struct error)ERROR_INIT;
    scene.requests[i] = (struct mcp_request){
        .peer = &scene.peer,
        .id = id,
        .method = method,
        .params = scene.params[i],
        .notify = on_notify,
        .done = on_done,
    };
    outcome = mcp_request_start(&scene.requests[i], &result, &scene.error);
    json_decref(result);
    return outcome;
}

static enum outcome listen(size_t i, const char *id, const char *wishes)
{
    AUTO_FREE char *params = memory_format("{\"notifications\":%s," META "}", wishes);

    return start(i, id, "subscriptions/listen", params);
}

static void begin(void)
{
    assert_int_equal(start(0, "1", "initialize", "{\"protocolVersion\":\"2025-11-25\"}"),
                     OUTCOME_READY);
}

static void change(enum registry_kind kind, const char *key)
{
    registry_remove(scene.server.registry, kind, key);
}

/* What was told since the last time, now that the loop has come round. */
static void expect(const char *lines)
{
    ev_run(EV_DEFAULT, EVRUN_NOWAIT);
    assert_string_equal(scene.told, lines);
    *scene.told = '\0';
}

#define ACK "request notifications/subscriptions/acknowledged "
#define TAG "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":"

static void a_legacy_peer_is_told_of_lists_once_it_has_done_the_handshake(void **state)
{
    (void)state;
    change(REGISTRY_TOOLS, "echo");
    expect("");
    begin();
    expect("");
    change(REGISTRY_TOOLS, "hold");
    change(REGISTRY_TOOLS, "release");
    change(REGISTRY_PROMPTS, "greet");
    change(REGISTRY_RESOURCES, "fixture://text");
    change(REGISTRY_TEMPLATES, "fixture://item/{id}");
    change(REGISTRY_TEMPLATES, "there is none");
    expect("peer notifications/tools/list_changed {}\n"
           "peer notifications/prompts/list_changed {}\n"
           "peer notifications/resources/list_changed {}\n");
}

static void a_legacy_peer_is_told_of_the_resources_it_watches(void **state)
{
    (void)state;
    begin();
    assert_int_equal(start(0, "1", "resources/subscribe", "{\"uri\":\"a:b\"}"), OUTCOME_READY);
    registry_update(scene.server.registry, "a:c");
    expect("");
    registry_update(scene.server.registry, "a:b");
    registry_update(scene.server.registry, "a:b");
    expect("peer notifications/resources/updated {\"uri\":\"a:b\"}\n");
    assert_int_equal(start(0, "1", "resources/unsubscribe", "{\"uri\":\"a:b\"}"), OUTCOME_READY);
    assert_int_equal(start(0, "1", "resources/unsubscribe", "{\"uri\":\"a:b\"}"), OUTCOME_READY);
    registry_update(scene.server.registry, "a:b");
    expect("");
}

static void what_one_peer_may_watch_is_bounded(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < SUBSCRIPTIONS_RESOURCES; i++) {
        AUTO_FREE char *params = memory_format("{\"uri\":\"a:%d\"}", i);

        assert_int_equal(start(0, "1", "resources/subscribe", params), OUTCOME_READY);
    }
    assert_int_equal(start(0, "1", "resources/subscribe", "{\"uri\":\"a:0\"}"), OUTCOME_READY);
    assert_int_equal(start(0, "1", "resources/subscribe", "{\"uri\":\"a:b\"}"), OUTCOME_FAILED);
}

static void who_listens_is_told_what_it_asked_for_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(listen(0, "7", "{\"toolsListChanged\":true,\"promptsListChanged\":false}"),
                     OUTCOME_PENDING);
    assert_int_equal(listen(1, "\"b\"", "{\"resourceSubscriptions\":[\"a:b\"],\"new\":1}"),
                     OUTCOME_PENDING);
    expect(ACK "{" TAG "7},\"notifications\":{\"toolsListChanged\":true}}\n" ACK "{" TAG
               "\"b\"},\"notifications\":{\"resourceSubscriptions\":[\"a:b\"]}}\n");
    change(REGISTRY_TOOLS, "echo");
    change(REGISTRY_PROMPTS, "greet");
    registry_update(scene.server.registry, "a:b");
    expect("request notifications/tools/list_changed {" TAG "7}}\n"
           "request notifications/resources/updated {" TAG "\"b\"},\"uri\":\"a:b\"}\n");
}

static void who_has_cancelled_hears_nothing_more(void **state)
{
    (void)state;
    assert_int_equal(listen(0, "7", "{\"toolsListChanged\":true}"), OUTCOME_PENDING);
    *scene.told = '\0';
    change(REGISTRY_TOOLS, "echo");
    mcp_request_cancel(&scene.requests[0]);
    mcp_request_deinit(&scene.requests[0]);
    expect("");
    mcp_peer_conclude(&scene.peer);
    expect("");
}

static void at_the_end_who_listens_is_answered(void **state)
{
    (void)state;
    assert_int_equal(listen(0, "7", "{\"toolsListChanged\":true}"), OUTCOME_PENDING);
    assert_int_equal(listen(1, "8", "{}"), OUTCOME_PENDING);
    *scene.told = '\0';
    mcp_peer_conclude(&scene.peer);
    change(REGISTRY_TOOLS, "echo");
    expect("done subscriptions/listen {" TAG "7},\"resultType\":\"complete\"}\n"
           "done subscriptions/listen {" TAG "8},\"resultType\":\"complete\"}\n");
}

static void a_slow_peer_is_told_when_it_reads_again(void **state)
{
    (void)state;
    assert_int_equal(listen(0, "7", "{\"toolsListChanged\":true}"), OUTCOME_PENDING);
    *scene.told = '\0';
    mcp_peer_set_slow(&scene.peer, true);
    change(REGISTRY_TOOLS, "echo");
    expect("");
    change(REGISTRY_TOOLS, "hold");
    expect("");
    mcp_peer_set_slow(&scene.peer, false);
    expect("request notifications/tools/list_changed {" TAG "7}}\n");
}

static void what_one_principal_may_watch_is_bounded(void **state)
{
    enum { PEERS = SUBSCRIPTIONS_RESOURCES_PER_PRINCIPAL / SUBSCRIPTIONS_RESOURCES };
    struct mcp_peer others[PEERS];
    struct mcp_peer stranger;
    struct error err = ERROR_INIT;

    (void)state;
    begin();
    for (int i = 0; i < PEERS; i++) {
        mcp_peer_init(&others[i], &scene.server,
                      &(struct mcp_peer_settings){.principal = "somebody"});
        for (int j = 0; j < SUBSCRIPTIONS_RESOURCES; j++) {
            AUTO_FREE char *uri = memory_format("a:%d", j);

            assert_int_equal(subscriber_add_resource(&others[i].subscriber, uri, &err), 0);
        }
    }
    assert_int_equal(start(0, "1", "resources/subscribe", "{\"uri\":\"a:0\"}"), OUTCOME_FAILED);
    assert_int_equal(scene.error.code, ERROR_BUSY);
    assert_int_equal(listen(0, "7", "{\"resourceSubscriptions\":[\"a:0\"]}"), OUTCOME_FAILED);
    assert_int_equal(scene.error.code, ERROR_BUSY);
    mcp_peer_init(&stranger, &scene.server, &(struct mcp_peer_settings){.principal = "other"});
    assert_int_equal(subscriber_add_resource(&stranger.subscriber, "a:0", &err), 0);
    mcp_peer_deinit(&others[0]);
    assert_int_equal(start(0, "1", "resources/subscribe", "{\"uri\":\"a:0\"}"), OUTCOME_READY);
    mcp_peer_deinit(&stranger);
    for (int i = 1; i < PEERS; i++)
        mcp_peer_deinit(&others[i]);
}

static void a_name_of_many_bytes_is_not_watched(void **state)
{
    AUTO_FREE char *uri = memory_new(SUBSCRIPTIONS_URI_BYTES + 2, 1);
    struct error err = ERROR_INIT;

    (void)state;
    memset(uri, 'a', SUBSCRIPTIONS_URI_BYTES + 1);
    assert_int_equal(subscriber_add_resource(&scene.peer.subscriber, uri, &err), -1);
    assert_int_equal(err.code, ERROR_INVALID_PARAMS);
    uri[SUBSCRIPTIONS_URI_BYTES] = '\0';
    assert_int_equal(subscriber_add_resource(&scene.peer.subscriber, uri, &err), 0);
}

/* Starts as many requests that listen as PEER may have. */
static void listen_often(struct mcp_peer *peer, struct mcp_request *requests)
{
    for (size_t i = 0; i < SUBSCRIPTIONS_LISTENERS_PER_PRINCIPAL; i++) {
        json_t *result = NULL;

        requests[i] = (struct mcp_request){.peer = peer,
                                           .id = "8",
                                           .method = "subscriptions/listen",
                                           .params = scene.params[0],
                                           .notify = on_notify};
        assert_int_equal(mcp_request_start(&requests[i], &result, &scene.error), OUTCOME_PENDING);
    }
}

static void how_many_may_listen_is_bounded(void **state)
{
    enum { PEERS = SUBSCRIPTIONS_LISTENERS / SUBSCRIPTIONS_LISTENERS_PER_PRINCIPAL };
    struct mcp_request *many = memory_new(SUBSCRIPTIONS_LISTENERS, sizeof *many);
    struct mcp_peer peers[PEERS];

    (void)state;
    assert_int_equal(listen(0, "7", "{}"), OUTCOME_PENDING);
    mcp_request_cancel(&scene.requests[0]);
    for (int i = 0; i < PEERS; i++) {
        AUTO_FREE char *name = i == 0 ? memory_copy_string("somebody") : memory_format("p%d", i);

        mcp_peer_init(&peers[i], &scene.server, &(struct mcp_peer_settings){.principal = name});
        listen_often(&peers[i], many + i * SUBSCRIPTIONS_LISTENERS_PER_PRINCIPAL);
        assert_int_equal(listen(1, "9", "{}"), OUTCOME_FAILED); /* of somebody, too */
        assert_int_equal(scene.error.code, ERROR_BUSY);
    }
    mcp_request_cancel(&many[SUBSCRIPTIONS_LISTENERS - 1]);
    assert_int_equal(listen(1, "9", "{}"), OUTCOME_FAILED);
    mcp_request_cancel(&many[0]);
    assert_int_equal(listen(1, "9", "{}"), OUTCOME_PENDING);
    for (size_t i = 0; i < SUBSCRIPTIONS_LISTENERS; i++)
        mcp_request_deinit(&many[i]);
    for (int i = 0; i < PEERS; i++)
        mcp_peer_deinit(&peers[i]);
    free(many);
}

static void wishes_that_are_none_are_refused(void **state)
{
    static const char *const BAD[] = {
        "[]",
        "null",
        "{\"toolsListChanged\":1}",
        "{\"resourceSubscriptions\":\"a:b\"}",
        "{\"resourceSubscriptions\":[1]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
        assert_int_equal(listen(0, "7", BAD[i]), OUTCOME_FAILED);
        assert_int_equal(scene.error.code, ERROR_INVALID_PARAMS);
    }
    assert_int_equal(start(0, "7", "subscriptions/listen", "{" META "}"), OUTCOME_FAILED);
    assert_int_equal(listen(0, "100000000000000000000", "{}"), OUTCOME_FAILED);
    change(REGISTRY_TOOLS, "echo");
    expect("");
}

static void what_the_server_does_not_have_cannot_be_wished_for(void **state)
{
    struct registry *full = scene.server.registry;

    (void)state;
    scene.server.registry = registry_new();
    assert_int_equal(listen(0, "7",
                            "{\"toolsListChanged\":true,\"promptsListChanged\":true,"
                            "\"resourceSubscriptions\":[\"a:b\"]}"),
                     OUTCOME_PENDING);
    expect(ACK "{" TAG "7},\"notifications\":{}}\n");
    registry_free(scene.server.registry);
    scene.server.registry = full;
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(a_legacy_peer_is_told_of_lists_once_it_has_done_the_handshake),
        TEST(a_legacy_peer_is_told_of_the_resources_it_watches),
        TEST(what_one_peer_may_watch_is_bounded),
        TEST(who_listens_is_told_what_it_asked_for_and_nothing_else),
        TEST(who_has_cancelled_hears_nothing_more),
        TEST(at_the_end_who_listens_is_answered),
        TEST(a_slow_peer_is_told_when_it_reads_again),
        TEST(what_one_principal_may_watch_is_bounded),
        TEST(a_name_of_many_bytes_is_not_watched),
        TEST(how_many_may_listen_is_bounded),
        TEST(wishes_that_are_none_are_refused),
        TEST(what_the_server_does_not_have_cannot_be_wished_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
