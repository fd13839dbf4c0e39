#include "base/protocol/version.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static void every_version_is_found_by_its_name(void **state)
{
    (void)state;
    for (enum mcp_version version = MCP_2024_11_05; version < MCP_VERSIONS; version++)
        assert_int_equal(mcp_version_find(mcp_version_name(version)), version);
}

static void names_that_are_no_version_are_not_found(void **state)
{
    static const char *const NAMES[] = {"", "2024-11-04", "2025-11-25 ", "v2025-11-25", "latest"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        assert_int_equal(mcp_version_find(NAMES[i]), MCP_VERSION_NONE);
}

static void only_a_string_that_is_all_name_is_a_version(void **state)
{
    json_t *name = json_string("2025-06-18");
    json_t *longer = json_stringn("2025-06-18\0", 11);
    json_t *number = json_integer(2025);

    (void)state;
    assert_int_equal(mcp_version_of(name), MCP_2025_06_18);
    assert_int_equal(mcp_version_of(longer), MCP_VERSION_NONE);
    assert_int_equal(mcp_version_of(number), MCP_VERSION_NONE);
    assert_int_equal(mcp_version_of(NULL), MCP_VERSION_NONE);
    json_decref(name);
    json_decref(longer);
    json_decref(number);
}

static void only_the_newest_version_is_modern(void **state)
{
    (void)state;
    assert_false(mcp_version_is_modern(MCP_VERSION_NONE));
    assert_false(mcp_version_is_modern(MCP_2024_11_05));
    assert_false(mcp_version_is_modern(MCP_2025_11_25));
    assert_true(mcp_version_is_modern(MCP_2026_07_28));
}

static void the_list_has_all_versions_newest_first(void **state)
{
    json_t *list = mcp_version_list();

    (void)state;
    assert_int_equal(json_array_size(list), MCP_VERSIONS - 1);
    assert_string_equal(json_string_value(json_array_get(list, 0)), "2026-07-28");
    assert_string_equal(json_string_value(json_array_get(list, 4)), "2024-11-05");
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_found_by_its_name),
        cmocka_unit_test(names_that_are_no_version_are_not_found),
        cmocka_unit_test(only_a_string_that_is_all_name_is_a_version),
        cmocka_unit_test(only_the_newest_version_is_modern),
        cmocka_unit_test(the_list_has_all_versions_newest_first),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
