#include "server/tools/resource.h"

#include "base/json.h"

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

static int add(struct registry *registry, const char *uri, const char *name, struct error *err)
{
    struct resource resource = {
        .uri = uri, .name = name, .mime_type = "text/plain", .size = -1, .start = start};

    *err = (struct error)ERROR_INIT;
    return strchr(uri, '{') ? resource_register_template(registry, &resource, err)
                            : resource_register(registry, &resource, err);
}

static void what_is_no_resource_is_refused(void **state)
{
    struct registry *registry = registry_new();
    struct error err;

    (void)state;
    assert_int_equal(add(registry, "", "a", &err), -1);
    assert_int_equal(add(registry, "a/b", "a", &err), -1);
    assert_int_equal(add(registry, "a:b", "", &err), -1);
    assert_int_equal(add(registry, "a:\xff", "a", &err), -1);
    assert_int_equal(add(registry, "a:b", "\xff", &err), -1);
    assert_int_equal(add(registry, "{a}:b", "a", &err), -1);
    assert_int_equal(add(registry, "a:{b}{c}", "a", &err), -1);
    assert_int_equal(add(registry, "a:{uri}", "a", &err), -1);
    assert_false(registry_offers(registry, REGISTRY_RESOURCES));
    assert_int_equal(add(registry, "a:b", "a", &err), 0);
    assert_int_equal(add(registry, "a:b", "b", &err), -1);
    assert_int_equal(err.code, ERROR_CONFIG);
    assert_true(registry_offers(registry, REGISTRY_RESOURCES));
    assert_false(registry_offers(registry, REGISTRY_TEMPLATES));
    registry_free(registry);
}

static void a_resource_goes_before_the_template_that_describes_it(void **state)
{
    struct registry *registry = registry_new();
    struct invocation invocation = {0};
    struct error err;

    (void)state;
    assert_int_equal(add(registry, "a:{b}", "template", &err), 0);
    assert_int_equal(add(registry, "a:b", "resource", &err), 0);
    assert_int_equal(resource_prepare(&invocation, registry, "a:b", &err), 0);
    assert_string_equal(resource_of(invocation.entry)->name, "resource");
    assert_string_equal(json_object_get_string(invocation.arguments, "uri"), "a:b");
    assert_null(json_object_get(invocation.arguments, "b"));
    invocation_deinit(&invocation);
    assert_int_equal(resource_prepare(&invocation, registry, "a:c", &err), 0);
    assert_string_equal(resource_of(invocation.entry)->name, "template");
    assert_string_equal(json_object_get_string(invocation.arguments, "uri"), "a:c");
    assert_string_equal(json_object_get_string(invocation.arguments, "b"), "c");
    invocation_deinit(&invocation);
    assert_int_equal(resource_prepare(&invocation, registry, "b:c", &err), -1);
    assert_int_equal(err.code, ERROR_UNKNOWN_RESOURCE);
    invocation_deinit(&invocation);
    registry_free(registry);
}

static void contents_have_the_type_of_their_resource_unless_they_say(void **state)
{
    struct registry *registry = registry_new();
    struct invocation invocation = {0};
    AUTO_JSON json_t *expected =
        json_loads("[{\"uri\":\"a:b\",\"mimeType\":\"text/plain\",\"text\":\"x\"},"
                   " {\"uri\":\"a:c\",\"mimeType\":\"image/png\",\"blob\":\"AAE=\"}]",
                   0, NULL);
    struct error err;

    (void)state;
    assert_int_equal(add(registry, "a:b", "a", &err), 0);
    assert_int_equal(resource_prepare(&invocation, registry, "a:b", &err), 0);
    resource_add_text(&invocation, "a:b", NULL, "x", 1);
    resource_add_bytes(&invocation, "a:c", "image/png", "\0\1", 2);
    assert_true(json_equal(invocation.result.content, expected));
    invocation_deinit(&invocation);
    registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_resource_is_refused),
        cmocka_unit_test(a_resource_goes_before_the_template_that_describes_it),
        cmocka_unit_test(contents_have_the_type_of_their_resource_unless_they_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
