#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void test_ill_formed_bytes_become_a_valid_string(void **state)
{
    AUTO_JSON json_t *string = json_string_repaired("a\xFF\0b", 4);

    (void)state;
    assert_int_equal(json_string_length(string), 6);
    assert_memory_equal(json_string_value(string), "a\xEF\xBF\xBD\0b", 7);
}

static void test_a_formatted_string_is_repaired(void **state)
{
    AUTO_JSON json_t *string = json_string_format("%d %s", 7, "\xC3");

    (void)state;
    assert_string_equal(json_string_value(string), "7 \xEF\xBF\xBD");
}

static void test_strings_become_an_array(void **state)
{
    static const char *const strings[] = {"a", "b", NULL};
    AUTO_JSON json_t *array = json_strings(strings);
    AUTO_JSON json_t *none = json_strings(NULL);
    AUTO_FREE char *list = json_list(array);

    (void)state;
    assert_string_equal(list, "a, b");
    assert_int_equal(json_array_size(none), 0);
}

static void test_types_have_the_names_of_json_schema(void **state)
{
    static const char *const names[] = {"object", "array",   "string",  "integer",
                                        "number", "boolean", "boolean", "null"};
    AUTO_JSON json_t *values = json_pack("[{}, [], s, i, f, b, b, n]", "", 1, 1.0, 1, 0);

    (void)state;
    assert_int_equal(json_array_size(values), 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(json_type_name(json_array_get(values, i)), names[i]);
}

static void test_text_is_one_line(void **state)
{
    AUTO_JSON json_t *value = json_pack("{s: s, s: f, s: n}", "a", "x\ny\r\t\x1f\"", "b", 0.1, "c");
    AUTO_FREE char *text = json_text(value);

    (void)state;
    assert_string_equal(text, "{\"a\":\"x\\ny\\r\\t\\u001F\\\"\",\"b\":0.1,\"c\":null}");
}

static void test_text_of_a_scalar(void **state)
{
    AUTO_JSON json_t *value = json_string("ä");
    AUTO_FREE char *text = json_text(value);

    (void)state;
    assert_string_equal(text, "\"ä\"");
}

static void test_a_string_member_is_found_only_when_it_is_one(void **state)
{
    AUTO_JSON json_t *object = json_pack("{s: s, s: i}", "a", "x", "b", 1);

    (void)state;
    assert_string_equal(json_object_get_string(object, "a"), "x");
    assert_null(json_object_get_string(object, "b"));
    assert_null(json_object_get_string(object, "c"));
    assert_null(json_object_get_string(NULL, "a"));
}

static void test_strings_are_listed(void **state)
{
    AUTO_JSON json_t *strings = json_pack("[s, s, s]", "a", "", "b c");
    AUTO_FREE char *list = json_list(strings);
    AUTO_FREE char *nothing = json_list(NULL);

    (void)state;
    assert_string_equal(list, "a, , b c");
    assert_string_equal(nothing, "");
}

static void test_a_pointer_escapes_the_two_characters_it_uses(void **state)
{
    AUTO_FREE char *root = json_pointer_append("", "");
    AUTO_FREE char *pointer = json_pointer_append("/a", "b/c~d~1");

    (void)state;
    assert_string_equal(root, "/");
    assert_string_equal(pointer, "/a/b~1c~0d~01");
}

static void test_a_pointer_is_shown_with_dots(void **state)
{
    AUTO_FREE char *root = json_pointer_dotted("");
    AUTO_FREE char *pointer = json_pointer_dotted("/a/b~1c~0d~01/2");

    (void)state;
    assert_string_equal(root, "");
    assert_string_equal(pointer, "a.b/c~d~1.2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ill_formed_bytes_become_a_valid_string),
        cmocka_unit_test(test_a_formatted_string_is_repaired),
        cmocka_unit_test(test_strings_become_an_array),
        cmocka_unit_test(test_types_have_the_names_of_json_schema),
        cmocka_unit_test(test_text_is_one_line),
        cmocka_unit_test(test_text_of_a_scalar),
        cmocka_unit_test(test_a_string_member_is_found_only_when_it_is_one),
        cmocka_unit_test(test_strings_are_listed),
        cmocka_unit_test(test_a_pointer_escapes_the_two_characters_it_uses),
        cmocka_unit_test(test_a_pointer_is_shown_with_dots),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
