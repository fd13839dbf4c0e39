#include "server/configuration/yaml_tree.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

/* The faults of one text, as "line:column [pointer] message" lines. */
struct faults {
    char *text; /* owned */
};

static void on_fault(void *data, struct yaml_position position, const char *pointer,
                     const char *message)
{
    struct faults *faults = data;
    AUTO_FREE char *before = faults->text;

    faults->text = memory_format("%s%zu:%zu [%s] %s\n", before ? before : "", position.line,
                                 position.column, pointer, message);
}

/* What TEXT is read as: compact JSON, or the faults. Owned by the caller. */
static char *read_text(const char *text)
{
    struct faults faults = {0};
    struct yaml_tree tree;
    char *json = NULL;

    yaml_tree_init(&tree, text, strlen(text), on_fault, &faults);
    if (!faults.text)
        json = json_text(tree.root);
    yaml_tree_deinit(&tree);
    return json ? json : faults.text;
}

struct reading {
    const char *text;
    const char *expected;
};

static void check(const struct reading *readings, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *result = read_text(readings[i].text);

        if (strcmp(result, readings[i].expected) == 0)
            continue;
        print_error("%s\n--- is read as\n%s\n--- not as\n%s\n", readings[i].text, result,
                    readings[i].expected);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void test_scalars_are_those_of_the_core_schema(void **state)
{
    static const struct reading readings[] = {
        {"[1, -2, 0, 1.5, 1e3, -0.25]", "[1,-2,0,1.5,1000,-0.25]"},
        {"[64.0, 9007199254740993]", "[64,9007199254740993]"},
        {"[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]"},
        {"[null, Null, NULL, ~]", "[null,null,null,null]"},
        {"[yes, no, on, off, y, n]", "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\"]"},
        {"[0x10, 0o17, 010, 1_000, +1, .5, 1., .inf, .nan, 10s, 1:30]",
         "[\"0x10\",\"0o17\",\"010\",\"1_000\",\"+1\",\".5\",\"1.\",\".inf\",\".nan\",\"10s\","
         "\"1:30\"]"},
        {"['1', \"true\", '', \"null\"]", "[\"1\",\"true\",\"\",\"null\"]"},
        {"a: |\n  1\n  2\n", "{\"a\":\"1\\n2\\n\"}"},
        {"a: >-\n  1\n  2\n", "{\"a\":\"1 2\"}"},
        {"a:\nb: 1\n", "{\"a\":null,\"b\":1}"},
        {"1: x\ntrue: y\n", "{\"1\":\"x\",\"true\":\"y\"}"},
        {"\xef\xbb\xbfk\xc3\xa4se: gro\xc3\x9f\n", "{\"k\xc3\xa4se\":\"gro\xc3\x9f\"}"},
        {"{\"a\": [1, {\"b\": null}]}", "{\"a\":[1,{\"b\":null}]}"},
        {"%YAML 1.2\n---\n{}\n...\n", "{}"},
        {"# nothing but\n--- {a: 1} # this\n", "{\"a\":1}"},
        {"date: 2026-11-21\n", "{\"date\":\"2026-11-21\"}"},
    };

    (void)state;
    check(readings, ARRAY_SIZE(readings));
}

static void test_faults_have_their_place(void **state)
{
    static const struct reading readings[] = {
        {"a: 1\n---\nb: 2\n", "2:1 [] a second document begins here, there can be one\n"},
        {"a: &x 1\nb: 2\n", "1:4 [/a] anchor &x: anchors and aliases are not read\n"},
        {"a: &x {b: *x}\n", "1:4 [/a] anchor &x: anchors and aliases are not read\n"
                            "1:11 [/a/b] alias *x: write the value out, aliases are not read\n"},
        {"a: [&x [1]]\n", "1:5 [/a/0] anchor &x: anchors and aliases are not read\n"},
        {"a: !!int 1\n", "1:4 [/a] tags are not read, a value has the type it is written as\n"},
        {"a: ! 1\n", "1:4 [/a] tags are not read, a value has the type it is written as\n"},
        {"a: !x [1]\n", "1:4 [/a] tags are not read, a value has the type it is written as\n"},
        {"a: !!map {}\n", "1:4 [/a] tags are not read, a value has the type it is written as\n"},
        {"&k a: 1\n", "1:1 [/a] anchor &k: anchors and aliases are not read\n"},
        {"!!str a: 1\n", "1:1 [/a] tags are not read, a value has the type it is written as\n"},
        {"a: 1\nb: 2\na: {c: 3}\n", "3:1 [/a] key \"a\" is given twice, first in line 1\n"},
        {"a/b: {c~d: 1, c~d: 2}\n",
         "1:15 [/a~1b/c~0d] key \"c~d\" is given twice, first in line 1\n"},
        {"a:\n  b: 1\n  \"b\": 2\na: 3\n", "3:3 [/a/b] key \"b\" is given twice, first in line 2\n"
                                           "4:1 [/a] key \"a\" is given twice, first in line 1\n"},
        {"? [a]\n: 1\n", "1:3 [] a key must be a single word or string\n"},
        {"a: \"x\\0y\"\n", "1:4 [/a] must not contain a NUL character\n"},
        {"\"x\\0y\": 1\n", "1:1 [] the key contains a NUL character\n"},
        {"a: 99999999999999999999\n", "1:4 [/a] the number is too large\n"},
        {"a: 1e999\n", "1:4 [/a] the number is too large\n"},
        {"a: 1\n\tb: 2\n", "2:1 [] line 2 is indented with a tab; indent with spaces\n"},
        {"\tb: 2\n", "1:1 [] line 1 is indented with a tab; indent with spaces\n"},
        {"a: [1, 2\nb: 3\n", "2:2 [] did not find expected ',' or ']', while parsing a flow "
                             "sequence that begins in line 1\n"},
        {"a: 'x\n", "2:1 [] found unexpected end of stream, while scanning a quoted scalar that "
                    "begins in line 1\n"},
        {"k\xc3\xa4se: {x\xff}\n", "1:9 [] invalid leading UTF-8 octet\n"},
        {"a: b\x01\n", "1:5 [] control characters are not allowed\n"},
        {"\xff\xfe{\0}\0", "1:1 [] invalid leading UTF-8 octet\n"},
        {"*x\n", "1:1 [] alias *x: write the value out, aliases are not read\n"},
    };

    (void)state;
    check(readings, ARRAY_SIZE(readings));
}

static void assert_place(const struct yaml_tree *tree, const char *pointer, size_t key_line,
                         size_t key_column, size_t line, size_t column)
{
    const struct yaml_place *place = yaml_tree_find(tree, pointer);

    assert_non_null(place);
    assert_int_equal(place->key.line, key_line);
    assert_int_equal(place->key.column, key_column);
    assert_int_equal(place->value.line, line);
    assert_int_equal(place->value.column, column);
}

static void test_every_value_and_key_can_be_found(void **state)
{
    static const char text[] = "a: 1\n"
                               "k\xc3\xa4se/~: [x,\n"
                               "  {y: 2}]\n"
                               "empty:\n"
                               "deep:\n"
                               "  er: |\n"
                               "    text\n";
    struct faults faults = {0};
    struct yaml_tree tree;

    (void)state;
    yaml_tree_init(&tree, text, strlen(text), on_fault, &faults);
    assert_null(faults.text);
    assert_place(&tree, "", 1, 1, 1, 1);
    assert_place(&tree, "/a", 1, 1, 1, 4);
    assert_place(&tree, "/k\xc3\xa4se~1~0", 2, 1, 2, 9);
    assert_place(&tree, "/k\xc3\xa4se~1~0/0", 2, 10, 2, 10);
    assert_place(&tree, "/k\xc3\xa4se~1~0/1/y", 3, 4, 3, 7);
    assert_place(&tree, "/empty", 4, 1, 4, 7);
    assert_place(&tree, "/deep/er", 6, 3, 6, 7);
    assert_null(yaml_tree_find(&tree, "/b"));
    assert_null(yaml_tree_find(&tree, "/a/0"));
    yaml_tree_deinit(&tree);
}

static void test_of_a_duplicate_the_first_is_kept(void **state)
{
    static const char text[] = "a: 1\na: {b: 2}\nc: 3\n";
    struct faults faults = {0};
    struct yaml_tree tree;
    AUTO_FREE char *json = NULL;

    (void)state;
    yaml_tree_init(&tree, text, strlen(text), on_fault, &faults);
    json = json_text(tree.root);
    assert_string_equal(json, "{\"a\":1,\"c\":3}");
    assert_place(&tree, "/a", 1, 1, 1, 4);
    assert_null(yaml_tree_find(&tree, "/a/b"));
    yaml_tree_deinit(&tree);
    free(faults.text);
}

/* PIECE again and again, COUNT times, then END. */
static char *repeat(const char *piece, size_t count, const char *end)
{
    size_t length = strlen(piece);
    char *text = memory_new(count * length + strlen(end) + 1, 1);

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, piece, length);
    memcpy(text + count * length, end, strlen(end));
    return text;
}

static double seconds_of_this_process(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_what_is_too_much_is_refused_fast(void **state)
{
    static const struct {
        const char *piece;
        size_t count;
        const char *end;
        const char *expected;
    } cases[] = {
        {"[", 32768, "", "1:33 [] values are nested more than 32 deep\n"},
        {"[", YAML_TEXT_BYTES, "", "1:33 [] values are nested more than 32 deep\n"},
        {"{a: ", 65536, "", "1:129 [] values are nested more than 32 deep\n"},
        {"- ", 65536, "x", "1:65 [] values are nested more than 32 deep\n"},
        {"? ", 65536, "x", "1:3 [] a key must be a single word or string\n"},
        {"- a\n", YAML_VALUES, "", "10000:3 [] there are more than 10000 values\n"},
        {"a", YAML_TEXT_BYTES + 1, "", "1:1 [] the file is larger than 262144 bytes\n"},
        {"k", YAML_KEY_BYTES + 1, ": 1\n", "1:1 [] the key is longer than 256 bytes\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *text = repeat(cases[i].piece, cases[i].count, cases[i].end);
        double begun = seconds_of_this_process();
        AUTO_FREE char *result = read_text(text);

        assert_string_equal(result, cases[i].expected);
        assert_true(seconds_of_this_process() - begun < 0.5);
    }
}

static void test_what_is_just_not_too_much_is_read(void **state)
{
    AUTO_FREE char *deep = repeat("[", YAML_DEPTH, "");
    AUTO_FREE char *closed = repeat("]", YAML_DEPTH, "");
    AUTO_FREE char *nested = memory_format("%s%s", deep, closed);
    AUTO_FREE char *list = repeat("- a\n", YAML_VALUES - 1, "");
    AUTO_FREE char *key = repeat("k", YAML_KEY_BYTES, ": 1\n");
    AUTO_FREE char *nested_result = read_text(nested);
    AUTO_FREE char *list_result = read_text(list);
    AUTO_FREE char *key_result = read_text(key);

    (void)state;
    assert_string_equal(nested_result, nested);
    assert_int_equal(*list_result, '[');
    assert_int_equal(*key_result, '{');
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars_are_those_of_the_core_schema),
        cmocka_unit_test(test_faults_have_their_place),
        cmocka_unit_test(test_every_value_and_key_can_be_found),
        cmocka_unit_test(test_of_a_duplicate_the_first_is_kept),
        cmocka_unit_test(test_what_is_too_much_is_refused_fast),
        cmocka_unit_test(test_what_is_just_not_too_much_is_read),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
