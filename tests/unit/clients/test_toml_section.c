#include "server/clients/toml_section.h"

#include "base/cleanup.h"
#include "tests/unit/clients/entry_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TABLE "[servers.us]\ncommand = \"x\""

static const char *const servers[] = {"servers", NULL};

static const struct entry_edit section = {toml_section_put, toml_section_take, servers, "us",
                                          "{\"command\": \"x\"}"};

static void expect_put(const char *before, const char *after)
{
    entry_edit_check_put(&section, before, after);
}

static void expect_fault(const char *text, const char *message)
{
    entry_edit_check_fault(&section, text, message);
}

static void test_a_table_is_added_behind_the_others(void **state)
{
    (void)state;
    expect_put("a = 1\n", "a = 1\n\n" TABLE "\n");
    expect_put("a = 1", "a = 1\n\n" TABLE);
    expect_put("", "\n" TABLE "\n");
    expect_put("a = '''\n[servers.us]\n'''\nb = [\n  \"]\", # [\n]\n",
               "a = '''\n[servers.us]\n'''\nb = [\n  \"]\", # [\n]\n\n" TABLE "\n");
}

static void test_what_others_have_added_since_stays(void **state)
{
    (void)state;
    entry_edit_check_take(
        &section,
        "a = 1\n\n[servers . \"us\"]\nb = 1\n\n[servers.us.env]\nc = 1\n# end\n\n# d\n[d]\n",
        "a = 1\n# end\n\n# d\n[d]\n");
}

static void test_a_table_that_is_there_is_written_anew(void **state)
{
    AUTO_FREE char *with = NULL;
    AUTO_FREE char *again = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(entry_edit_put(&section, "[servers.us]\ncommand = 'old'\n[b]\n", &with, &err),
                     SETTINGS_CHANGED);
    assert_string_equal(with, TABLE "\n[b]\n");
    assert_int_equal(entry_edit_put(&section, with, &again, &err), SETTINGS_SAME);
}

static void test_a_fault_has_its_line_and_column(void **state)
{
    (void)state;
    expect_fault("a = 1\n[b\n", "2:3: is not valid TOML");
    expect_fault("a = \"x\n", "1:5: is not valid TOML: a string is not closed");
    expect_fault("a = [1,\n", "2:1: is not valid TOML: an array is not closed");
    expect_fault("a\n", "1:2: is not valid TOML: a \"=\" is missing");
    expect_fault("servers = {}\n", "1:1: servers must have tables");
    expect_fault("servers.us.command = 1\n", "1:1: us must be a table");
    expect_fault("[servers]\nus = {}\n", "2:1: us must be a table");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_is_added_behind_the_others),
        cmocka_unit_test(test_what_others_have_added_since_stays),
        cmocka_unit_test(test_a_table_that_is_there_is_written_anew),
        cmocka_unit_test(test_a_fault_has_its_line_and_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
