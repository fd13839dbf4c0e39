#include "server/tools/registry.h"

#include "base/list.h"
#include "base/memory.h"
#include "server/tools/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static enum outcome start(struct invocation *invocation, struct error *err)
{
    (void)invocation;
    (void)err;
    return OUTCOME_READY;
}

static int add_with_schemas(struct registry *registry, const char *name, json_t *input,
                            json_t *output, struct error *err)
{
    struct tool tool = {.name = name,
                        .description = "d",
                        .input_schema = input,
                        .output_schema = output,
                        .annotations = json_object(),
                        .start = start};

    return tool_register_function(registry, &tool, err);
}

static int add(struct registry *registry, const char *name, struct error *err)
{
    return add_with_schemas(registry, name, json_pack("{s:s}", "type", "object"), NULL, err);
}

static void tools_are_found_by_name_in_the_order_they_came(void **state)
{
    static const char *const NAMES[] = {"z", "a", "run_python", "A.b-c_9"};
    struct registry *registry = registry_new();
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(add(registry, NAMES[i], &err), 0);
    assert_int_equal(registry_count(registry, REGISTRY_TOOLS), 4);
    for (size_t i = 0; i < 4; i++) {
        struct registry_entry *entry = registry_at(registry, REGISTRY_TOOLS, i);

        assert_string_equal(entry->key, NAMES[i]);
        assert_ptr_equal(registry_find(registry, REGISTRY_TOOLS, NAMES[i]), entry);
        assert_non_null(tool_input_schema(entry));
    }
    assert_null(registry_find(registry, REGISTRY_TOOLS, "Z"));
    registry_free(registry);
}

static void bad_names_are_refused(void **state)
{
    char longest[130];
    const char *const names[] = {"", "a b", "a/b", "\xC3\xA4", "a\n", longest};
    struct registry *registry = registry_new();
    struct error fine = ERROR_INIT;

    (void)state;
    memset(longest, 'a', sizeof longest);
    longest[129] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct error err = ERROR_INIT;

        assert_int_equal(add(registry, names[i], &err), -1);
        assert_int_equal(err.code, ERROR_CONFIG);
    }
    assert_int_equal(add(registry, longest + 1, &fine), 0);
    assert_int_equal(registry_count(registry, REGISTRY_TOOLS), 1);
    registry_free(registry);
}

static void a_second_tool_of_the_same_name_is_refused(void **state)
{
    struct registry *registry = registry_new();
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(add(registry, "a", &err), 0);
    assert_int_equal(add(registry, "a", &err), -1);
    assert_string_equal(err.message, "tool: a: registered already");
    registry_free(registry);
}

struct watching {
    struct registry_watcher watcher;
    unsigned changes;
};

static void on_changed(struct registry_watcher *watcher, enum registry_kind kind)
{
    assert_int_equal(kind, REGISTRY_TOOLS);
    CONTAINER_OF(watcher, struct watching, watcher)->changes++;
}

static void offer(struct registry *registry, const char *description, const char *key)
{
    const struct tool tool = {
        .name = "a",
        .description = description,
        .input_schema = json_pack("{s:s, s:{s:{}}}", "type", "object", "properties", key),
        .annotations = json_object(),
        .start = start,
    };
    struct error err = ERROR_INIT;

    assert_int_equal(tool_offer(registry, &tool, &err), 0);
}

static void what_is_offered_again_is_a_change_only_if_it_looks_different(void **state)
{
    struct registry *registry = registry_new();
    struct watching watching = {.watcher = {.changed = on_changed}};

    (void)state;
    registry_watch(registry, &watching.watcher);
    offer(registry, "d", "x");
    offer(registry, "d", "x");
    assert_int_equal(watching.changes, 1);
    offer(registry, "e", "x");
    assert_int_equal(watching.changes, 2);
    offer(registry, "e", "y");
    assert_int_equal(watching.changes, 3);
    assert_int_equal(registry_count(registry, REGISTRY_TOOLS), 1);
    registry_unwatch(&watching.watcher);
    registry_free(registry);
}

static void bad_schemas_are_refused_with_their_place(void **state)
{
    struct registry *registry = registry_new();
    struct error missing = ERROR_INIT;
    struct error array = ERROR_INIT;
    struct error input = ERROR_INIT;
    struct error output = ERROR_INIT;

    (void)state;
    assert_int_equal(add_with_schemas(registry, "a", NULL, NULL, &missing), -1);
    assert_non_null(strstr(missing.message, "tool a: input schema: missing"));
    assert_int_equal(
        add_with_schemas(registry, "a", json_pack("{s:s}", "type", "array"), NULL, &array), -1);
    assert_non_null(strstr(array.message, "must be \"object\""));
    assert_int_equal(add_with_schemas(registry, "a",
                                      json_pack("{s:s, s:s}", "type", "object", "required", "x"),
                                      NULL, &input),
                     -1);
    assert_non_null(strstr(input.message, "tool a: input schema: "));
    assert_int_equal(add_with_schemas(registry, "a", json_pack("{s:s}", "type", "object"),
                                      json_pack("{s:s}", "type", "text"), &output),
                     -1);
    assert_non_null(strstr(output.message, "tool a: output schema: "));
    assert_int_equal(registry_count(registry, REGISTRY_TOOLS), 0);
    registry_free(registry);
}

static void texts_that_are_not_utf8_are_refused(void **state)
{
    struct registry *registry = registry_new();
    struct error err = ERROR_INIT;
    struct tool tool = {.name = "a", .description = "\xff", .start = start};

    (void)state;
    tool.input_schema = json_pack("{s:s}", "type", "object");
    assert_int_equal(tool_register_function(registry, &tool, &err), -1);
    registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_are_found_by_name_in_the_order_they_came),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(a_second_tool_of_the_same_name_is_refused),
        cmocka_unit_test(what_is_offered_again_is_a_change_only_if_it_looks_different),
        cmocka_unit_test(bad_schemas_are_refused_with_their_place),
        cmocka_unit_test(texts_that_are_not_utf8_are_refused),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
