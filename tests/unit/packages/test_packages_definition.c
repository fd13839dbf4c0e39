#include "environments/packages/packages_definition.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_all_keys_are_read(void **state)
{
    AUTO_JSON json_t *json =
        json_pack("{s:[s], s:s, s:s, s:s, s:b}", "pip_packages", "numpy", "requirements_file", "/r",
                  "pip_index_url", "https://i", "pip_find_links", "/w", "allow_source_builds", 1);
    const struct packages_definition definition = packages_definition_read(json);

    (void)state;
    assert_int_equal(json_array_size(definition.pip_packages), 1);
    assert_string_equal(definition.requirements_file, "/r");
    assert_string_equal(definition.pip_index_url, "https://i");
    assert_string_equal(definition.pip_find_links, "/w");
    assert_true(definition.allow_source_builds);
}

static void test_a_type_without_these_keys_names_no_packages(void **state)
{
    AUTO_JSON json_t *json = json_pack("{s:s}", "type", "system");
    const struct packages_definition definition = packages_definition_read(json);
    struct requirements requirements = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_null(definition.pip_packages);
    assert_null(definition.requirements_file);
    assert_false(definition.allow_source_builds);
    assert_false(packages_definition_names_any(&definition));
    assert_int_equal(packages_definition_collect(&definition, &requirements, &err), 0);
    assert_int_equal(requirements.count, 0);
}

static void test_a_list_or_a_file_names_packages(void **state)
{
    AUTO_JSON json_t *none = json_array();
    AUTO_JSON json_t *some = json_pack("[s]", "numpy");

    (void)state;
    assert_false(packages_definition_names_any(&(struct packages_definition){none}));
    assert_true(packages_definition_names_any(&(struct packages_definition){some}));
    assert_true(packages_definition_names_any(
        &(struct packages_definition){none, .requirements_file = "/r"}));
}

static void test_an_error_in_the_file_names_its_key(void **state)
{
    const struct packages_definition definition = {.requirements_file = "/no/such/file"};
    struct requirements requirements = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(packages_definition_collect(&definition, &requirements, &err), -1);
    assert_memory_equal(err.message, "requirements_file: ", strlen("requirements_file: "));
}

static void test_hashes_are_for_all_packages_or_for_none(void **state)
{
    AUTO_JSON json_t *some = json_pack("[s, s]", "numpy", "pandas --hash=sha256:00");
    const struct packages_definition definition = {some};
    AUTO(requirements_deinit) struct requirements requirements = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(packages_definition_collect(&definition, &requirements, &err), -1);
}

static void test_packages_are_added_once(void **state)
{
    AUTO_JSON json_t *packages = json_pack("[s]", "numpy");
    AUTO_JSON json_t *more = json_pack("[s, s, s]", "pandas", "numpy", "pandas");
    AUTO_JSON json_t *expected = json_pack("[s, s]", "numpy", "pandas");

    (void)state;
    packages_definition_add(packages, more);
    packages_definition_add(packages, NULL);
    assert_true(json_equal(packages, expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_keys_are_read),
        cmocka_unit_test(test_a_type_without_these_keys_names_no_packages),
        cmocka_unit_test(test_a_list_or_a_file_names_packages),
        cmocka_unit_test(test_an_error_in_the_file_names_its_key),
        cmocka_unit_test(test_hashes_are_for_all_packages_or_for_none),
        cmocka_unit_test(test_packages_are_added_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
