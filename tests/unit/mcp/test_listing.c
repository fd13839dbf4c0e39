#include "server/mcp/listing.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"
#include "server/tools/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { PROMPTS = 10 };

struct scene {
    struct mcp_server server;
    struct mcp_peer peer;
    struct error error;
    char *cursor; /* of the last page; owned; NULL: it was the last */
};

static enum outcome start(struct invocation *invocation, struct error *err)
{
    (void)invocation;
    (void)err;
    return OUTCOME_READY;
}

static void add(struct scene *scene, const char *name)
{
    struct prompt prompt = {.name = name, .start = start};

    assert_int_equal(prompt_register(scene->server.registry, &prompt, &scene->error), 0);
}

static int open_scene(void **state)
{
    static struct scene scene;

    scene = (struct scene){.server = {.loop = EV_DEFAULT,
                                      .name = "n",
                                      .version = "1",
                                      .page_size = 4,
                                      .registry = registry_new()}};
    for (int i = 0; i < PROMPTS; i++) {
        AUTO_FREE char *name = memory_format("p%d", i);

        add(&scene, name);
    }
    mcp_server_init(&scene.server);
    mcp_peer_init(&scene.peer, &scene.server, &(struct mcp_peer_settings){.principal = "a"});
    scene.peer.negotiated = MCP_2025_11_25;
    *state = &scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;

    mcp_peer_deinit(&scene->peer);
    mcp_server_deinit(&scene->server);
    registry_free(scene->server.registry);
    free(scene->cursor);
    return 0;
}

/* The names on the page behind CURSOR (NULL: the first), or NULL for an error. New reference. */
static json_t *list(struct scene *scene, const char *cursor)
{
    AUTO_JSON json_t *params = json_pack("{s:s*}", "cursor", cursor);
    AUTO_JSON json_t *result = NULL;
    struct mcp_request request = {.peer = &scene->peer, .method = "prompts/list", .params = params};
    json_t *names = json_array();
    json_t *prompt;
    size_t i;

    scene->error = (struct error)ERROR_INIT;
    if (mcp_request_start(&request, &result, &scene->error) != OUTCOME_READY) {
        json_decref(names);
        names = NULL;
    }
    if (request.text)
        result = json_loads(request.text, 0, NULL);
    json_array_foreach (json_object_get(result, "prompts"), i, prompt) {
        json_array_append(names, json_object_get(prompt, "name"));
    }
    free(scene->cursor);
    cursor = json_object_get_string(result, "nextCursor");
    scene->cursor = cursor ? memory_copy_string(cursor) : NULL;
    mcp_request_deinit(&request);
    return names;
}

static void expect(struct scene *scene, const char *cursor, const char *expected)
{
    AUTO_JSON json_t *names = list(scene, cursor);
    AUTO_FREE char *text = names ? json_text(names) : memory_copy_string("error");

    assert_string_equal(text, expected);
}

static void expect_next(struct scene *scene, const char *expected)
{
    AUTO_FREE char *cursor = STEAL_PTR(scene->cursor);

    assert_non_null(cursor);
    expect(scene, cursor, expected);
}

static void pages_have_everything_once_and_in_order(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        expect(scene, NULL, "[\"p0\",\"p1\",\"p2\",\"p3\"]");
        expect_next(scene, "[\"p4\",\"p5\",\"p6\",\"p7\"]");
        expect_next(scene, "[\"p8\",\"p9\"]");
        assert_null(scene->cursor);
    }
}

static void a_page_that_is_full_may_be_the_last(void **state)
{
    struct scene *scene = *state;

    scene->server.page_size = 5;
    expect(scene, NULL, "[\"p0\",\"p1\",\"p2\",\"p3\",\"p4\"]");
    expect_next(scene, "[\"p5\",\"p6\",\"p7\",\"p8\",\"p9\"]");
    assert_null(scene->cursor);
}

static void a_list_that_changes_goes_on_where_it_was(void **state)
{
    struct scene *scene = *state;

    expect(scene, NULL, "[\"p0\",\"p1\",\"p2\",\"p3\"]");
    registry_remove(scene->server.registry, REGISTRY_PROMPTS, "p1");
    registry_remove(scene->server.registry, REGISTRY_PROMPTS, "p5");
    add(scene, "late");
    expect_next(scene, "[\"p4\",\"p6\",\"p7\",\"p8\"]");
    expect_next(scene, "[\"p9\",\"late\"]");
}

static void a_list_that_has_changed_is_not_answered_as_it_was(void **state)
{
    struct scene *scene = *state;

    expect(scene, NULL, "[\"p0\",\"p1\",\"p2\",\"p3\"]");
    registry_remove(scene->server.registry, REGISTRY_PROMPTS, "p1");
    expect(scene, NULL, "[\"p0\",\"p2\",\"p3\",\"p4\"]");
}

static void a_cursor_of_what_is_not_there_is_unknown(void **state)
{
    struct scene *scene = *state;

    expect(scene, NULL, "[\"p0\",\"p1\",\"p2\",\"p3\"]");
    registry_remove(scene->server.registry, REGISTRY_PROMPTS, "p3");
    expect_next(scene, "error");
    assert_int_equal(scene->error.code, ERROR_INVALID_PARAMS);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(pages_have_everything_once_and_in_order),
        TEST(a_page_that_is_full_may_be_the_last),
        TEST(a_list_that_changes_goes_on_where_it_was),
        TEST(a_list_that_has_changed_is_not_answered_as_it_was),
        TEST(a_cursor_of_what_is_not_there_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
