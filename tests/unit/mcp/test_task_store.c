/* Whose a task is, how many there may be, and who is told. What the methods answer is in
 * tests/integration/test_tasks.py. */
#include "server/mcp/task_store.h"

#include "base/json.h"
#include "base/list.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/mcp/tasks.h"
#include "server/tools/registry.h"
#include "tests/fixture/tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct scene {
    struct mcp_server server;
    struct fixture fixture;
    struct mcp_peer peer;
    struct task_watcher watcher;
    unsigned told; /* by the watcher */
    unsigned notified;
};

static void on_notify(struct mcp_request *request, const char *method, json_t *params)
{
    (void)request;
    (void)method;
    json_decref(params);
}

static void on_peer_notify(struct mcp_peer *peer, const char *method, json_t *params)
{
    (void)method;
    CONTAINER_OF(peer, struct scene, peer)->notified++;
    json_decref(params);
}

static void on_changed(struct task_watcher *watcher, const struct task *task)
{
    assert_non_null(task->id);
    CONTAINER_OF(watcher, struct scene, watcher)->told++;
}

static void open_peer(struct mcp_peer *peer, struct mcp_server *server, const char *principal)
{
    mcp_peer_init(peer, server,
                  &(struct mcp_peer_settings){.principal = principal, .lasting = true});
    peer->negotiated = MCP_2025_11_25;
    peer->notify = on_peer_notify;
}

static int open_scene(void **state)
{
    static struct scene scene;

    scene = (struct scene){
        .server = {.loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()},
        .watcher = {.changed = on_changed}};
    mcp_server_init(&scene.server);
    fixture_init(&scene.fixture, scene.server.registry);
    open_peer(&scene.peer, &scene.server, "somebody");
    task_store_watch(scene.server.tasks, &scene.watcher);
    *state = &scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;

    task_store_unwatch(&scene->watcher);
    if (scene->peer.server)
        mcp_peer_deinit(&scene->peer);
    mcp_server_deinit(&scene->server);
    registry_free(scene->server.registry);
    assert_true(list_is_empty(&scene->fixture.held));
    return 0;
}

/* The result of METHOD, or NULL with ERR. New reference. */
static json_t *request(struct mcp_peer *peer, const char *method, json_t *params /* taken */,
                       struct error *err)
{
    struct mcp_request request = {
        .peer = peer, .method = method, .params = params, .notify = on_notify};
    json_t *result = NULL;
    enum outcome outcome = mcp_request_start(&request, &result, err);

    assert_int_equal(outcome, result ? OUTCOME_READY : OUTCOME_FAILED);
    mcp_request_deinit(&request);
    json_decref(params);
    return result;
}

static json_t *invocation(struct mcp_peer *peer, const char *tool, json_t *arguments,
                          struct error *err)
{
    return request(peer, "tools/call",
                   json_pack("{s:s, s:o, s:{}}", "name", tool, "arguments", arguments, "task"),
                   err);
}

/* The id of a task that waits to be released as NAME. */
static json_t *hold(struct mcp_peer *peer, const char *name)
{
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *result = invocation(peer, "later", json_pack("{s:s}", "name", name), &err);

    assert_non_null(result);
    return json_incref(json_object_get(json_object_get(result, "task"), "taskId"));
}

static bool is_known(struct mcp_peer *peer, json_t *id)
{
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *result = request(peer, "tasks/get", json_pack("{s:O}", "taskId", id), &err);

    assert_true(result || err.code == ERROR_INVALID_PARAMS);
    return result;
}

static size_t count(struct mcp_peer *peer)
{
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *result = request(peer, "tasks/list", json_object(), &err);

    return json_array_size(json_object_get(result, "tasks"));
}

static void release(struct mcp_peer *peer, const char *name)
{
    struct error err = ERROR_INIT;

    json_decref(request(peer, "tools/call",
                        json_pack("{s:s, s:{s:s}}", "name", "release", "arguments", "name", name),
                        &err));
    assert_int_equal(err.code, ERROR_NONE);
}

static void a_task_of_another_principal_is_unknown(void **state)
{
    struct scene *scene = *state;
    AUTO_JSON json_t *id = hold(&scene->peer, "a");
    struct mcp_peer again;
    struct mcp_peer stranger;
    struct error err = ERROR_INIT;

    open_peer(&again, &scene->server, "somebody");
    open_peer(&stranger, &scene->server, "somebody else");
    assert_true(is_known(&again, id));
    assert_false(is_known(&stranger, id));
    assert_int_equal(count(&again), 1);
    assert_int_equal(count(&stranger), 0);
    assert_null(request(&stranger, "tasks/cancel", json_pack("{s:O}", "taskId", id), &err));
    assert_int_equal(err.code, ERROR_INVALID_PARAMS);
    mcp_peer_deinit(&again);
    mcp_peer_deinit(&stranger);
}

static void what_a_caller_keeps_is_there_as_long_as_its_task_works(void **state)
{
    struct scene *scene = *state;
    AUTO_JSON json_t *id = hold(&scene->peer, "a");
    struct tool_caller *caller = scene->peer.caller;
    struct mcp_peer again;

    tool_caller_ref(caller);
    mcp_peer_deinit(&scene->peer);
    scene->peer.server = NULL;
    assert_int_equal(caller->references, 2);
    open_peer(&again, &scene->server, "somebody");
    json_decref(request(&again, "tasks/cancel", json_pack("{s:O}", "taskId", id),
                        &(struct error)ERROR_INIT));
    assert_int_equal(caller->references, 1);
    tool_caller_unref(caller);
    mcp_peer_deinit(&again);
}

static void a_session_that_is_gone_is_told_nothing(void **state)
{
    struct scene *scene = *state;

    json_decref(hold(&scene->peer, "a"));
    json_decref(hold(&scene->peer, "b"));
    release(&scene->peer, "a");
    assert_int_equal(scene->notified, 1);
    mcp_peer_deinit(&scene->peer);
    scene->peer.server = NULL;
    mcp_server_stop(&scene->server);
    assert_int_equal(scene->notified, 1);
    assert_int_equal(scene->told, 2);
}

static void one_principal_cannot_have_all(void **state)
{
    struct scene *scene = *state;
    struct error err = ERROR_INIT;
    struct mcp_peer other;
    size_t made = 0;
    json_t *result;

    while ((result = invocation(&scene->peer, "must", json_pack("{s:s}", "end", "x"), &err)) !=
           NULL) {
        json_decref(result);
        made++;
    }
    assert_int_equal(err.code, ERROR_BUSY);
    assert_int_equal(made, TASK_STORE_PER_PRINCIPAL);
    open_peer(&other, &scene->server, "somebody else");
    json_decref(hold(&other, "a"));
    mcp_peer_deinit(&other);
}

static void what_tasks_end_with_is_bounded(void **state)
{
    struct scene *scene = *state;
    AUTO_JSON json_t *id = hold(&scene->peer, "a");
    struct error err = ERROR_INIT;
    struct mcp_request asking = {.peer = &scene->peer, .version = MCP_2025_11_25};
    struct task *task = task_store_find(scene->server.tasks, &asking, json_string_value(id));
    struct mcp_peer other;

    release(&scene->peer, "a");
    assert_in_range(task->bytes, 10, 200);
    task->bytes = TASK_STORE_BYTES_PER_PRINCIPAL;
    assert_null(invocation(&scene->peer, "must", json_pack("{s:s}", "end", "x"), &err));
    assert_int_equal(err.code, ERROR_BUSY);
    open_peer(&other, &scene->server, "somebody else");
    json_decref(hold(&other, "b"));
    task->bytes = TASK_STORE_BYTES;
    error_clear(&err);
    assert_null(invocation(&other, "must", json_pack("{s:s}", "end", "x"), &err));
    assert_int_equal(err.code, ERROR_BUSY);
    mcp_peer_deinit(&other);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_scene, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_task_of_another_principal_is_unknown),
        TEST(what_a_caller_keeps_is_there_as_long_as_its_task_works),
        TEST(a_session_that_is_gone_is_told_nothing),
        TEST(one_principal_cannot_have_all),
        TEST(what_tasks_end_with_is_bounded),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
