#include "server/mcp/request_state.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct scene {
    struct request_states *states;
    struct request_state_owner owner;
    json_t *arguments; /* owned */
};

static int open_scene(void **state)
{
    static struct scene scene;

    scene =
        (struct scene){.states = request_states_new(NULL), .arguments = json_pack("{s:i}", "a", 1)};
    scene.owner = (struct request_state_owner){
        .principal = "p", .method = "tools/call", .name = "n", .arguments = scene.arguments};
    *state = &scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;

    json_decref(scene->arguments);
    request_states_free(scene->states);
    return 0;
}

static char *seal(const struct scene *scene)
{
    AUTO_JSON json_t *content = json_pack("{s:s}", "k", "v");
    struct error err = ERROR_INIT;

    return request_state_seal(scene->states, &scene->owner, content, &err);
}

/* True when TEXT is taken from OWNER. */
static bool is_taken(const struct scene *scene, const struct request_state_owner *owner,
                     const char *text)
{
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *content = request_state_open(scene->states, owner, text, &err);

    assert_int_equal(err.code, content ? ERROR_NONE : ERROR_INVALID_PARAMS);
    if (content)
        assert_string_equal(json_object_get_string(content, "k"), "v");
    return content != NULL;
}

static void what_was_sealed_comes_back_once(void **state)
{
    const struct scene *scene = *state;
    AUTO_FREE char *text = seal(scene);
    AUTO_FREE char *other = seal(scene);

    assert_string_not_equal(text, other);
    assert_true(is_taken(scene, &scene->owner, text));
    assert_false(is_taken(scene, &scene->owner, text));
    assert_true(is_taken(scene, &scene->owner, other));
}

static void any_other_character_is_noticed(void **state)
{
    const struct scene *scene = *state;
    AUTO_FREE char *text = seal(scene);

    for (size_t i = 0; i < strlen(text); i++) {
        char before = text[i];

        text[i] = before == 'A' ? 'B' : 'A';
        assert_false(is_taken(scene, &scene->owner, text));
        text[i] = '\0';
        assert_false(is_taken(scene, &scene->owner, text));
        text[i] = before;
    }
    assert_true(is_taken(scene, &scene->owner, text));
}

static void what_is_longer_is_noticed(void **state)
{
    const struct scene *scene = *state;
    AUTO_FREE char *text = seal(scene);
    AUTO_FREE char *longer = memory_format("%s-TAMPERED", text);

    assert_false(is_taken(scene, &scene->owner, longer));
    assert_false(is_taken(scene, &scene->owner, ""));
    assert_false(is_taken(scene, &scene->owner, "v1."));
    assert_false(is_taken(scene, &scene->owner, "v1.."));
}

static void it_is_for_nothing_and_nobody_else(void **state)
{
    const struct scene *scene = *state;
    AUTO_JSON json_t *arguments = json_pack("{s:i}", "a", 2);
    AUTO_FREE char *text = seal(scene);
    struct request_state_owner other = scene->owner;

    other.principal = "q";
    assert_false(is_taken(scene, &other, text));
    other = scene->owner;
    other.method = "prompts/get";
    assert_false(is_taken(scene, &other, text));
    other = scene->owner;
    other.name = "m";
    assert_false(is_taken(scene, &other, text));
    other = scene->owner;
    other.arguments = arguments;
    assert_false(is_taken(scene, &other, text));
    other.arguments = NULL;
    assert_false(is_taken(scene, &other, text));
    assert_true(is_taken(scene, &scene->owner, text));
}

static void the_order_of_arguments_does_not_matter(void **state)
{
    struct scene *scene = *state;
    AUTO_JSON json_t *ab = json_loads("{\"a\":1,\"b\":{\"c\":1,\"d\":2}}", 0, NULL);
    AUTO_JSON json_t *ba = json_loads("{\"b\":{\"d\":2,\"c\":1},\"a\":1}", 0, NULL);
    AUTO_FREE char *text = NULL;

    scene->owner.arguments = ab;
    text = seal(scene);
    scene->owner.arguments = ba;
    assert_true(is_taken(scene, &scene->owner, text));
}

static void another_server_does_not_know_it(void **state)
{
    const struct scene *scene = *state;
    struct scene other = *scene;
    AUTO_FREE char *text = seal(scene);

    other.states = request_states_new(NULL);
    assert_false(is_taken(&other, &other.owner, text));
    request_states_free(other.states);
}

static void what_is_too_long_is_not_sealed(void **state)
{
    const struct scene *scene = *state;
    AUTO_FREE char *large = memory_new(100 * 1024, 1);
    AUTO_JSON json_t *content = NULL;
    struct error err = ERROR_INIT;

    memset(large, 'x', 100 * 1024 - 1);
    content = json_string(large);
    assert_null(request_state_seal(scene->states, &scene->owner, content, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
}

static void it_names_its_replica_and_is_opened_there_only(void **state)
{
    const struct scene *scene = *state;
    struct scene named = *scene;
    AUTO_FREE char *text = NULL;

    named.states = request_states_new("b");
    text = seal(&named);
    assert_int_equal(strncmp(text, "b-v1.", 5), 0);
    assert_false(is_taken(scene, &scene->owner, text));
    assert_true(is_taken(&named, &named.owner, text));
    assert_false(is_taken(&named, &named.owner, text));
    request_states_free(named.states);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(what_was_sealed_comes_back_once),
        TEST(any_other_character_is_noticed),
        TEST(what_is_longer_is_noticed),
        TEST(it_is_for_nothing_and_nobody_else),
        TEST(the_order_of_arguments_does_not_matter),
        TEST(another_server_does_not_know_it),
        TEST(it_names_its_replica_and_is_opened_there_only),
        TEST(what_is_too_long_is_not_sealed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
