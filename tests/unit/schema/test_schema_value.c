#include "base/schema/schema_value.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

    if (!value)
        fail_msg("not JSON: %s", text);
    return value;
}

static void test_a_whole_number_is_an_integer_however_it_is_written(void **state)
{
    static const struct {
        const char *text;
        bool integer;
    } cases[] = {
        {"1", true},    {"1.0", true},    {"-0.0", true},  {"1e300", true},
        {"1.5", false}, {"\"1\"", false}, {"true", false}, {"1e-300", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *value = parse(cases[i].text);

        assert_int_equal(schema_value_is_integer(value), cases[i].integer);
    }
}

static void test_numbers_are_compared_exactly(void **state)
{
    static const struct {
        const char *left;
        const char *right;
        int order;
    } cases[] = {
        {"1", "2", -1},
        {"1", "1.0", 0},
        {"1", "1.5", -1},
        {"2", "1.5", 1},
        {"-1", "-1.5", 1},
        {"-2", "-1.5", -1},
        {"9007199254740993", "9007199254740992.0", 1}, /* the same as doubles */
        {"9223372036854775807", "9223372036854775808.0", -1},
        {"-9223372036854775808", "-9223372036854775808.0", 0},
        {"9223372036854775807", "1e300", -1},
        {"-9223372036854775808", "-1e300", 1},
        {"0", "-0.0", 0},
        {"0.1", "0.2", -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *left = parse(cases[i].left);
        AUTO_JSON json_t *right = parse(cases[i].right);

        assert_int_equal(schema_value_compare(left, right), cases[i].order);
        assert_int_equal(schema_value_compare(right, left), -cases[i].order);
    }
}

static void test_multiples_are_those_of_the_decimal_numbers(void **state)
{
    static const struct {
        const char *value;
        const char *divisor;
        bool multiple;
    } cases[] = {
        {"0", "0.1", true},
        {"0.3", "0.1", true}, /* not so in binary */
        {"1.1", "0.1", true},
        {"0.35", "0.1", false},
        {"19.99", "0.01", true},
        {"0.0075", "0.0001", true},
        {"0.00751", "0.0001", false},
        {"-4.5", "1.5", true},
        {"7", "2", false},
        {"10", "2.5", true},
        {"9007199254740993", "2", false},
        {"-9223372036854775808", "2", true},
        {"12391239123", "1e-8", true},
        {"1e308", "0.123456789", false},
        {"1e308", "0.5", true},
        {"5e-324", "1e308", false},
        {"1e308", "5e-324", true},
        {"1e-7", "1", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *value = parse(cases[i].value);
        AUTO_JSON json_t *divisor = parse(cases[i].divisor);

        if (schema_value_is_multiple(value, divisor) != cases[i].multiple)
            fail_msg("%s of %s", cases[i].value, cases[i].divisor);
    }
}

static void test_equality_is_deep_and_knows_no_number_types(void **state)
{
    static const struct {
        const char *left;
        const char *right;
        bool equal;
    } cases[] = {
        {"1", "1.0", true},
        {"[1, {\"a\": 2.0}]", "[1.0, {\"a\": 2}]", true},
        {"{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", true},
        {"{\"a\": 1}", "{\"a\": 1, \"b\": 2}", false},
        {"{\"a\": 1}", "{\"b\": 1}", false},
        {"[1, 2]", "[2, 1]", false},
        {"[1]", "[1, 1]", false},
        {"0", "false", false},
        {"1", "true", false},
        {"\"1\"", "1", false},
        {"null", "null", true},
        {"true", "false", false},
        {"\"a\"", "\"a\"", true},
        {"\"a\"", "\"A\"", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *left = parse(cases[i].left);
        AUTO_JSON json_t *right = parse(cases[i].right);
        size_t budget = 100;

        assert_int_equal(schema_value_equal(left, right, &budget), cases[i].equal);
        assert_true(budget > 0);
    }
}

static void test_comparing_ends_with_its_budget(void **state)
{
    AUTO_JSON json_t *left = parse("[1, 2, 3]");
    size_t budget = 3;

    (void)state;
    assert_false(schema_value_equal(left, left, &budget));
    assert_int_equal(budget, 0);
}

static void test_strings_are_counted_in_characters(void **state)
{
    AUTO_JSON json_t *string = parse("\"a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x8D\"");
    AUTO_JSON json_t *array = parse("[1, [2, 3]]");
    AUTO_JSON json_t *object = parse("{\"a\": 1}");

    (void)state;
    assert_int_equal(schema_value_count(string), 4);
    assert_int_equal(schema_value_count(array), 2);
    assert_int_equal(schema_value_count(object), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_number_is_an_integer_however_it_is_written),
        cmocka_unit_test(test_numbers_are_compared_exactly),
        cmocka_unit_test(test_multiples_are_those_of_the_decimal_numbers),
        cmocka_unit_test(test_equality_is_deep_and_knows_no_number_types),
        cmocka_unit_test(test_comparing_ends_with_its_budget),
        cmocka_unit_test(test_strings_are_counted_in_characters),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
