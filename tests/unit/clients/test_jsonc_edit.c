#include "server/clients/jsonc_edit.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const servers[] = {"servers", NULL};
static const char *const allowed[] = {"permissions", "allow", NULL};

static void expect_put(const char *const *path, const char *name, const char *before,
                       const char *after)
{
    AUTO_JSON json_t *value = json_string("x");
    const struct settings_entry entry = {path, name, value};
    AUTO_FREE char *with = NULL;
    AUTO_FREE char *without = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(jsonc_put(before, &entry, &with, &err), SETTINGS_CHANGED);
    assert_string_equal(with, after);
    assert_int_equal(jsonc_take(with, &entry, &without, &err), SETTINGS_CHANGED);
    assert_string_equal(without, before);
}

static void expect_take(const char *before, const char *after)
{
    const struct settings_entry entry = {servers, "us", NULL};
    AUTO_FREE char *without = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(jsonc_take(before, &entry, &without, &err), SETTINGS_CHANGED);
    assert_string_equal(without, after);
}

static void expect_fault(const char *text, const char *message)
{
    AUTO_JSON json_t *value = json_string("x");
    const struct settings_entry entry = {servers, "us", value};
    AUTO_FREE char *made = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(jsonc_put(text, &entry, &made, &err), -1);
    assert_memory_equal(err.message, message, strlen(message));
    assert_null(made);
}

static void test_an_entry_has_the_form_of_its_neighbours(void **state)
{
    (void)state;
    expect_put(servers, "us", "{\"servers\": {\"a\": 1}}",
               "{\"servers\": {\"a\": 1, \"us\": \"x\"}}");
    expect_put(servers, "us", "{\n\t\"servers\": {\n\t\t\"a\": 1\n\t}\n}\n",
               "{\n\t\"servers\": {\n\t\t\"a\": 1,\n\t\t\"us\": \"x\"\n\t}\n}\n");
    expect_put(servers, "us", "{\r\n    \"a\": 1\r\n}",
               "{\r\n    \"a\": 1,\r\n    \"servers\": {\r\n        \"us\": \"x\"\r\n    }\r\n}");
    expect_put(servers, "us", "{\"servers\": {}}", "{\"servers\": {\"us\": \"x\"}}");
}

static void test_comments_and_trailing_commas_stay(void **state)
{
    (void)state;
    expect_put(servers, "us", "{\n  \"servers\": {\n    \"a\": 1, // one\n  },\n}\n",
               "{\n  \"servers\": {\n    \"a\": 1, // one\n    \"us\": \"x\",\n  },\n}\n");
    expect_put(servers, "us", "{\n  \"servers\": {\n    \"a\": 1 // one, two\n  }\n}\n",
               "{\n  \"servers\": {\n    \"a\": 1, // one, two\n    \"us\": \"x\"\n  }\n}\n");
    expect_put(servers, "us", "{\"servers\": { // none\n}}",
               "{\"servers\": { // none\n  \"us\": \"x\"\n}}");
    expect_put(servers, "us", "// \"servers\": {\n{\"u\": \"//\"}",
               "// \"servers\": {\n{\"u\": \"//\", \"servers\": {\n  \"us\": \"x\"\n}}");
}

static void test_an_element_of_an_array(void **state)
{
    (void)state;
    expect_put(allowed, NULL, "{\"permissions\": {\"allow\": [\"a\"]}}",
               "{\"permissions\": {\"allow\": [\"a\", \"x\"]}}");
    expect_put(
        allowed, NULL, "{\n  \"b\": 1\n}\n",
        "{\n  \"b\": 1,\n  \"permissions\": {\n    \"allow\": [\n      \"x\"\n    ]\n  }\n}\n");
}

static void test_what_others_have_added_since_stays(void **state)
{
    (void)state;
    expect_take("{\"servers\": {\"us\": 1, \"b\": 2}}", "{\"servers\": { \"b\": 2}}");
    expect_take("{\n \"servers\": {\n  \"a\": 1,\n  \"us\": 1,\n  \"b\": 2\n }\n}",
                "{\n \"servers\": {\n  \"a\": 1,\n  \"b\": 2\n }\n}");
    expect_take("{\n \"servers\": {\n  \"us\": 1\n },\n \"c\": 2\n}", "{\n \"c\": 2\n}");
    expect_take("{\"servers\": { // note\n  \"us\": 1, \"b\": 2}}",
                "{\"servers\": { // note\n   \"b\": 2}}");
    expect_take("{\"servers\": {\n  // ours\n  \"us\": 1\n}}", "{\"servers\": {\n  // ours\n}}");
}

static void test_the_member_that_counts_is_the_last_of_its_name(void **state)
{
    (void)state;
    expect_put(servers, "us", "{\"servers\": 1, \"servers\": {\"a\": 1}}",
               "{\"servers\": 1, \"servers\": {\"a\": 1, \"us\": \"x\"}}");
}

static void test_what_javascript_writes_is_read(void **state)
{
    (void)state;
    expect_put(servers, "us", "{\"half\": \"\\ud83d \\u0000\", \"n\": 123456789012345678901}",
               "{\"half\": \"\\ud83d \\u0000\", \"n\": 123456789012345678901, \"servers\": {\n"
               "  \"us\": \"x\"\n}}");
}

static void test_a_fault_has_its_line_and_column(void **state)
{
    (void)state;
    expect_fault("{\n  \"\xc3\xa9\": nil\n}", "2:");
    expect_fault("[]", "1:1: must be an object of JSON");
    expect_fault("{\n \"servers\": 1}", "2:13: servers must be an object");
    expect_fault("{,}", "1:2: is not valid JSON");
    expect_fault("{\"a\": 1 /* }", "1:9: is not valid JSON");
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
