#include "environments/kinds/kinds.h"

#include "base/json.h"
#include "base/memory.h"
#include "schemas/schemas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const json_t *environment_schema(const json_t *config)
{
    return json_object_get(json_object_get(config, "$defs"), "environment");
}

static void test_the_configuration_takes_each_kind_and_no_other(void **state)
{
    AUTO_JSON json_t *config = json_loads(schemas_find("config"), 0, NULL);
    const json_t *schema = environment_schema(config);
    const json_t *type = json_object_get(json_object_get(schema, "properties"), "type");
    const json_t *names = json_object_get(type, "enum");

    (void)state;
    assert_int_equal(json_array_size(names), environment_kinds_count());
    assert_int_equal(json_array_size(json_object_get(schema, "allOf")), environment_kinds_count());
    for (size_t i = 0; i < environment_kinds_count(); i++)
        assert_string_equal(json_string_value(json_array_get(names, i)),
                            environment_kinds_at(i)->name);
}

static void test_each_kind_has_a_schema_of_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < environment_kinds_count(); i++) {
        const char *name = environment_kinds_at(i)->name;
        AUTO_FREE char *file = memory_format("environment.%s", name);
        AUTO_JSON json_t *schema = json_loads(schemas_find(file), 0, NULL);
        const json_t *type = json_object_get(json_object_get(schema, "properties"), "type");

        assert_string_equal(json_object_get_string(type, "const"), name);
    }
}

static const struct environment_kind *find(const char *type)
{
    AUTO_JSON json_t *definition = json_pack("{s:s}", "type", type);

    return environment_kinds_find(definition);
}

static void test_a_kind_is_found_by_the_type(void **state)
{
    AUTO_JSON json_t *nothing = json_object();

    (void)state;
    for (size_t i = 0; i < environment_kinds_count(); i++)
        assert_ptr_equal(find(environment_kinds_at(i)->name), environment_kinds_at(i));
    assert_null(find("conda"));
    assert_null(environment_kinds_find(nothing));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_configuration_takes_each_kind_and_no_other),
        cmocka_unit_test(test_each_kind_has_a_schema_of_its_name),
        cmocka_unit_test(test_a_kind_is_found_by_the_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
