#include "base/toml_reader.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *text;
    const char *json;  /* what is read; NULL: it is refused ... */
    const char *error; /* ... with this */
} cases[] = {
    {"", "{}", NULL},
    {"# nothing\n\n", "{}", NULL},
    {"a = \"b\"", "{'a':'b'}", NULL},
    {"a='b' # c\r\nd = \"\"\r\n", "{'a':'b','d':''}", NULL},
    {"a = [\"b\", 'c',]", "{'a':['b','c']}", NULL},
    {"a = [ # first\n  \"b>=1\", # second\n\n  \"c\"\n]\n", "{'a':['b>=1','c']}", NULL},
    {"a = []", "{'a':[]}", NULL},
    {"\"a b\" = 'c'", "{'a b':'c'}", NULL},
    {"a = \"\"\"\nb\nc\"\"\"", "{'a':'b\\nc'}", NULL},
    {"a = \"\"\"b \\\n  \n   c\"\"\"", "{'a':'b c'}", NULL},
    {"a = '''b'c''''", "{'a':'b\\'c\\''}", NULL},
    {"a = \"x\\ty\\u00e9\\U0001F600\"", "{'a':'x\\ty\\u00e9\\ud83d\\ude00'}", NULL},
    {"a = 'x\\ty'", "{'a':'x\\\\ty'}", NULL},
    {"a.b = 'c'", "{}", NULL},
    {"a = 1\nb = true\nc = 1979-05-27 07:32:00\nd = {e = 'f', g = [1]}\nh = ['i', 1]",
     "{'a':null,'b':null,'c':null,'d':null,'h':null}", NULL},
    {"a = 'b'\n[tool.uv]\na = 'c'\n[[x.\"y\"]]\na = ['d']", "{'a':'b'}", NULL},
    {"a = [[['b']]]", "{'a':null}", NULL},

    {"a", NULL, "line 1: a \"=\" is missing behind the key"},
    {"a =", NULL, "line 1: a value is missing"},
    {"\na = 'b", NULL, "line 2: a string is not closed"},
    {"a = \"b\nc\"", NULL, "line 1: a string is not closed"},
    {"a = '''b\nc'", NULL, "line 1: a string is not closed"},
    {"a = \"\\q\"", NULL, "line 1: a backslash is followed by something that it cannot escape"},
    {"a = \"\\u12\"", NULL, "line 1: an escape is not complete"},
    {"a = \"\\ud800\"", NULL, "line 1: an escape is not a character"},
    {"a = \"\xff\"", NULL, "line 1: a string is not valid UTF-8"},
    {"a = ['b' 'c']", NULL, "line 1: an array is not closed, or a comma is missing in it"},
    {"a = ['b',\n'c'\n", NULL, "line 3: an array is not closed, or a comma is missing in it"},
    {"a = [,]", NULL, "line 1: a value is missing"},
    {"a = {b = 'c'", NULL, "line 1: an inline table is not closed"},
    {"a = 'b' c = 'd'", NULL, "line 1: there is something behind the value"},
    {"a = 'b'\na = 'c'", NULL, "line 2: a key is there twice"},
    {"= 'b'", NULL, "line 1: a key is missing"},
    {"[a\nb = 'c'", NULL, "line 1: the name of a table is not closed"},
    {"\"\xff\" = 1", NULL, "line 1: a key is not valid UTF-8"},
    {"[[a]\n", NULL, "line 1: the name of a table is not closed"},
    {"a = [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", NULL,
     "line 1: arrays and tables are too deep"},
};

/* JSON with single quotes. New reference. */
static json_t *load(const char *text)
{
    AUTO_FREE char *copy = memory_copy_string(text);
    json_t *value;

    for (char *at = copy; *at; at++) {
        if (*at == '\\' && at[1] == '\'')
            memmove(at, at + 1, strlen(at));
        else if (*at == '\'')
            *at = '"';
    }
    value = json_loads(copy, 0, NULL);
    assert_non_null(value);
    return value;
}

static void test_toml_is_read_as_far_as_scripts_need_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = ERROR_INIT;
        AUTO_JSON json_t *root = toml_read(cases[i].text, strlen(cases[i].text), &err);

        if (cases[i].json) {
            AUTO_JSON json_t *expected = load(cases[i].json);

            assert_non_null(root);
            assert_true(json_equal(root, expected));
        } else {
            assert_null(root);
            assert_string_equal(err.message, cases[i].error);
        }
    }
}

static void test_items_say_where_they_are(void **state)
{
    static const char text[] = "# a\n  [b . 'c']  # d\n\n\te = [\n'f']\ng.h = 1";
    AUTO(toml_reader_deinit) struct toml_reader reader;
    AUTO(toml_item_deinit) struct toml_item table = {0};
    AUTO(toml_item_deinit) struct toml_item pair = {0};
    AUTO(toml_item_deinit) struct toml_item last = {0};

    (void)state;
    toml_reader_init(&reader, text, strlen(text));
    assert_int_equal(toml_reader_next(&reader, &table), 1);
    assert_true(table.is_table);
    assert_int_equal(table.start, strstr(text, "[b") - text);
    assert_int_equal(table.end, strstr(text, "\n\te") - text);
    assert_string_equal(json_string_value(json_array_get(table.name, 1)), "c");

    assert_int_equal(toml_reader_next(&reader, &pair), 1);
    assert_false(pair.is_table);
    assert_int_equal(pair.start, strstr(text, "e =") - text);
    assert_int_equal(pair.end, strstr(text, "g.h") - text);
    assert_int_equal(json_array_size(pair.value), 1);

    assert_int_equal(toml_reader_next(&reader, &last), 1);
    assert_int_equal(json_array_size(last.name), 2);
    assert_int_equal(last.end, strlen(text));
    assert_null(last.value);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toml_is_read_as_far_as_scripts_need_it),
        cmocka_unit_test(test_items_say_where_they_are),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
