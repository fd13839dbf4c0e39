#include "server/clients/yaml_section.h"

#include "base/cleanup.h"
#include "tests/unit/clients/entry_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const servers[] = {"servers", NULL};

static const struct entry_edit section = {yaml_section_put, yaml_section_take, servers, "us",
                                          "{\"command\": \"x\"}"};

static void expect_put(const char *before, const char *after)
{
    entry_edit_check_put(&section, before, after);
}

static void expect_fault(const char *text, const char *message)
{
    entry_edit_check_fault(&section, text, message);
}

static void test_an_entry_becomes_the_first_of_its_mapping(void **state)
{
    (void)state;
    expect_put("servers:\n   # b's\n   b:\n      c: 1\nd: 1\n",
               "servers:\n   # b's\n   us:\n     command: \"x\"\n   b:\n      c: 1\nd: 1\n");
    expect_put("servers:\nd: 1\n", "servers:\n    us:\n      command: \"x\"\nd: 1\n");
    expect_put("servers: {}\n", "servers: {\"us\": {\"command\": \"x\"}}\n");
}

static void test_a_mapping_is_made_behind_everything_else(void **state)
{
    (void)state;
    expect_put("a: |\n  servers:\n", "a: |\n  servers:\nservers:\n  us:\n    command: \"x\"\n");
    expect_put("a: 1", "a: 1\nservers:\n  us:\n    command: \"x\"");
    expect_put("", "servers:\n  us:\n    command: \"x\"");
}

static void expect_take(const char *before, const char *after)
{
    entry_edit_check_take(&section, before, after);
}

static void test_a_name_that_was_not_made_for_the_entry_stays(void **state)
{
    (void)state;
    expect_take("servers:\n  # mine\n  us:\n    command: \"x\"\na: 1\n",
                "servers:\n  # mine\na: 1\n");
    expect_take("servers:\n\n  us:\n    command: \"x\"\n", "servers:\n\n");
    expect_take("servers: # mine\n  us:\n    command: \"x\"\n", "servers: # mine\n");
    expect_take("\"servers\":\n  us:\n    command: \"x\"\n", "\"servers\":\n");
    expect_take("a: 1\r\nservers:\r\n  us:\r\n    command: \"x\"\r\n", "a: 1\r\n");
}

static void expect_not_taken(const char *text)
{
    AUTO_FREE char *made = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(entry_edit_take(&section, text, &made, &err), -1);
    assert_null(made);
    assert_string_equal(err.message, "1:1: servers is not written as a block: "
                                     "one member in each line");
}

static void test_an_entry_that_is_not_whole_lines_is_left_alone(void **state)
{
    (void)state;
    expect_not_taken("servers:\n  us: {command:\n  x}\n  b: 1\n");
    expect_not_taken("servers:\n  ? us\n  : command: x\n");
}

static void test_what_cannot_be_edited_line_by_line_is_left_alone(void **state)
{
    (void)state;
    expect_fault("a: 1\nservers: {b: {c: 1}}\n", "2:1: servers is not written as a block");
    expect_fault("a: 1\n...\n", "1:1: ");
    expect_fault("servers: [1]\n", "1:1: servers must be a mapping");
    expect_fault("a: [\n", "2:1: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_entry_becomes_the_first_of_its_mapping),
        cmocka_unit_test(test_a_mapping_is_made_behind_everything_else),
        cmocka_unit_test(test_a_name_that_was_not_made_for_the_entry_stays),
        cmocka_unit_test(test_an_entry_that_is_not_whole_lines_is_left_alone),
        cmocka_unit_test(test_what_cannot_be_edited_line_by_line_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
