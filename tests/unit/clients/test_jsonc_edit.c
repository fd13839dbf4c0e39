#include "server/clients/jsonc_edit.h"

#include "tests/unit/clients/entry_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const servers[] = {"servers", NULL};
static const char *const allowed[] = {"permissions", "allow", NULL};

static const struct entry_edit server = {jsonc_put, jsonc_take, servers, "us", "\"x\""};
static const struct entry_edit permission = {jsonc_put, jsonc_take, allowed, NULL, "\"x\""};

static void test_an_entry_has_the_form_of_its_neighbours(void **state)
{
    (void)state;
    entry_edit_check_put(&server, "{\"servers\": {\"a\": 1}}",
                         "{\"servers\": {\"a\": 1, \"us\": \"x\"}}");
    entry_edit_check_put(&server, "{\n\t\"servers\": {\n\t\t\"a\": 1\n\t}\n}\n",
                         "{\n\t\"servers\": {\n\t\t\"a\": 1,\n\t\t\"us\": \"x\"\n\t}\n}\n");
    entry_edit_check_put(
        &server, "{\r\n    \"a\": 1\r\n}",
        "{\r\n    \"a\": 1,\r\n    \"servers\": {\r\n        \"us\": \"x\"\r\n    }\r\n}");
    entry_edit_check_put(&server, "{\"servers\": {}}", "{\"servers\": {\"us\": \"x\"}}");
}

static void test_comments_and_trailing_commas_stay(void **state)
{
    (void)state;
    entry_edit_check_put(
        &server, "{\n  \"servers\": {\n    \"a\": 1, // one\n  },\n}\n",
        "{\n  \"servers\": {\n    \"a\": 1, // one\n    \"us\": \"x\",\n  },\n}\n");
    entry_edit_check_put(
        &server, "{\n  \"servers\": {\n    \"a\": 1 // one, two\n  }\n}\n",
        "{\n  \"servers\": {\n    \"a\": 1, // one, two\n    \"us\": \"x\"\n  }\n}\n");
    entry_edit_check_put(&server, "{\"servers\": { // none\n}}",
                         "{\"servers\": { // none\n  \"us\": \"x\"\n}}");
    entry_edit_check_put(&server, "// \"servers\": {\n{\"u\": \"//\"}",
                         "// \"servers\": {\n{\"u\": \"//\", \"servers\": {\n  \"us\": \"x\"\n}}");
}

static void test_an_element_of_an_array(void **state)
{
    (void)state;
    entry_edit_check_put(&permission, "{\"permissions\": {\"allow\": [\"a\"]}}",
                         "{\"permissions\": {\"allow\": [\"a\", \"x\"]}}");
    entry_edit_check_put(
        &permission, "{\n  \"b\": 1\n}\n",
        "{\n  \"b\": 1,\n  \"permissions\": {\n    \"allow\": [\n      \"x\"\n    ]\n  }\n}\n");
}

static void test_what_others_have_added_since_stays(void **state)
{
    (void)state;
    entry_edit_check_take(&server, "{\"servers\": {\"us\": 1, \"b\": 2}}",
                          "{\"servers\": { \"b\": 2}}");
    entry_edit_check_take(&server,
                          "{\n \"servers\": {\n  \"a\": 1,\n  \"us\": 1,\n  \"b\": 2\n }\n}",
                          "{\n \"servers\": {\n  \"a\": 1,\n  \"b\": 2\n }\n}");
    entry_edit_check_take(&server, "{\n \"servers\": {\n  \"us\": 1\n },\n \"c\": 2\n}",
                          "{\n \"c\": 2\n}");
    entry_edit_check_take(&server, "{\"servers\": { // note\n  \"us\": 1, \"b\": 2}}",
                          "{\"servers\": { // note\n   \"b\": 2}}");
    entry_edit_check_take(&server, "{\"servers\": {\n  // ours\n  \"us\": 1\n}}",
                          "{\"servers\": {\n  // ours\n}}");
}

static void test_the_member_that_counts_is_the_last_of_its_name(void **state)
{
    (void)state;
    entry_edit_check_put(&server, "{\"servers\": 1, \"servers\": {\"a\": 1}}",
                         "{\"servers\": 1, \"servers\": {\"a\": 1, \"us\": \"x\"}}");
}

static void test_what_javascript_writes_is_read(void **state)
{
    (void)state;
    entry_edit_check_put(
        &server, "{\"half\": \"\\ud83d \\u0000\", \"n\": 123456789012345678901}",
        "{\"half\": \"\\ud83d \\u0000\", \"n\": 123456789012345678901, \"servers\": {\n"
        "  \"us\": \"x\"\n}}");
}

static void test_a_fault_has_its_line_and_column(void **state)
{
    (void)state;
    entry_edit_check_fault(&server, "{\n  \"\xc3\xa9\": nil\n}", "2:");
    entry_edit_check_fault(&server, "[]", "1:1: must be an object of JSON");
    entry_edit_check_fault(&server, "{\n \"servers\": 1}", "2:13: servers must be an object");
    entry_edit_check_fault(&server, "{,}", "1:2: is not valid JSON");
    entry_edit_check_fault(&server, "{\"a\": 1 /* }", "1:9: is not valid JSON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_entry_has_the_form_of_its_neighbours),
        cmocka_unit_test(test_comments_and_trailing_commas_stay),
        cmocka_unit_test(test_an_element_of_an_array),
        cmocka_unit_test(test_what_others_have_added_since_stays),
        cmocka_unit_test(test_the_member_that_counts_is_the_last_of_its_name),
        cmocka_unit_test(test_what_javascript_writes_is_read),
        cmocka_unit_test(test_a_fault_has_its_line_and_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
