#include "server/tools/plain_text.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct plain_case {
    const char *text;
    const char *plain;
};

static char *clean(const char *text, size_t *ret_length)
{
    size_t untold;

    return plain_text_clean(text, strlen(text), ret_length, &untold);
}

static void test_a_line_has_all_states_that_are_short(void **state)
{
    static const struct plain_case cases[] = {
        {"", ""},
        {"plain, na\xC3\xAFve\ttab\n", "plain, na\xC3\xAFve\ttab\n"},
        {" 10%\r 50%\r100%\nnext", " 10%\n 50%\n100%\nnext"},
        {" 10%\r 50%\r", " 10%\n 50%"},
        {"\r 50%|###   |\r100%|######|\ndone\n", " 50%|###   |\n100%|######|\ndone\n"},
        {"name,qty\rapple,3\rpear,5\r", "name,qty\napple,3\npear,5"},
        {"name,qty\rapple,3\rpear,5\r\n", "name,qty\napple,3\npear,5\n"},
        {"one\r\ntwo\r\n", "one\ntwo\n"},
        {"one\r\r\ntwo", "one\ntwo"},
        {"  \r\n", "  \n"},
        /* What only clears the line, or says it again, is no state. */
        {"working\r       \rdone\n", "working\ndone\n"},
        {"working   \rdone   \nnext", "working   \ndone\nnext"},
        {"   \rdone\n", "done\n"},
        {"working\r       \r\nnext", "working\nnext"},
        {"working\r       \r", "working"},
        {"done\rdone\rdone  \n", "done\n"},
        /* Backspaces that take back all of a state are a return. */
        {"a,1\b\b\bb,22", "a,1\nb,22"},
        {"5%\b\b10%\b\b\b\r99%\n", "5%\n10%\n99%\n"},
        {"abc\b\bx", "ax"},
        {"  kept  \n", "  kept  \n"},
        {"|\b/\b-\bok", "ok"},
        {"B\bBold \xE6\x97\xA5\b\xE6\x9C\xAC", "Bold \xE6\x9C\xAC"},
        {"\b\bx\n\b\by", "x\ny"},
        /* A control character is one, however it is shown. */
        {"ab\x07\b!", "ab!"},
        {"ab\xC2\x92\x07\b\b!", "ab!"},
        {"a\\x41\b!", "a\\x4!"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length;
        AUTO_FREE char *plain = clean(cases[i].text, &length);

        assert_string_equal(plain, cases[i].plain);
        assert_int_equal(length, strlen(cases[i].plain));
    }
}

static void test_a_line_that_goes_up_is_a_state_of_the_line_above(void **state)
{
    static const struct plain_case cases[] = {
        {"step 1\n\x1B[Astep 2\n\x1B[1Fstep 3\nend", "step 1\nstep 2\nstep 3\nend"},
        {"outer\n\rinner\x1B[A\r       \router\ndone", "outer\ninner\nouter\ndone"},
        {"a\n\nb\x1B[2A\rc", "a\nb\nc"},
        {"a\n\nb\x1B[A\rc", "a\nb\nc"},
        {"a\n\nb", "a\n\nb"},
        {"a\nb\x1B[B", "a\nb"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length;
        AUTO_FREE char *plain = clean(cases[i].text, &length);

        assert_string_equal(plain, cases[i].plain);
    }
}

/* As tqdm draws them, the inner one below the outer one. */
static void test_nested_bars_are_two_of_them(void **state)
{
    char text[65536] = "outer:   0%|          | 0/30";
    size_t length = strlen(text);
    AUTO_FREE char *plain = NULL;

    (void)state;
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < 10; j++)
            length += (size_t)sprintf(text + length, "\n\rinner: %3d%%|#         | %d/10\x1B[A",
                                      10 * j, j);
        length += (size_t)sprintf(text + length, "\router: %3d%%|##        | %d/30", 3 * i, i);
    }
    strcpy(text + length, "\ndone\n");
    plain = clean(text, &length);
    assert_true(length < 1000);
    assert_non_null(strstr(plain, "outer:  87%|##        | 29/30\ndone\n"));
}

static void test_control_sequences_are_gone(void **state)
{
    static const struct plain_case cases[] = {
        {"\x1B[31;1mred\x1B[0m \x1B[2Kx\x1B[?25l", "red x"},
        {"\x1B]0;title\a1\x1B]8;;http://a\x1B\\link\x1B]8;;\x1B\\", "1link"},
        {"\x1B(Ba\x1B=b\x1B"
         "7c",
         "abc"},
        {"\x1B", ""},
        {"\x1B[", ""},
        {"x\x1B[31", "x"},
        {"\x1B]never ends\nthe next line", "never ends\nthe next line"},
        {"\x1B]0;never ends\x1B[1m, but here\a!", "0;never ends, but here\\x07!"},
        {"\x1B]\x1B]\x1B]0;title\a!", "!"},
        {"\x1B[3\nx", "\nx"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length;
        AUTO_FREE char *plain = clean(cases[i].text, &length);

        assert_string_equal(plain, cases[i].plain);
    }
}

static void test_control_characters_are_shown(void **state)
{
    static const struct plain_case cases[] = {
        {"it\xC2\x92s", "it\\x92s"},
        {"a\xC2\x85"
         "b",
         "a\\x85b"},
        /* Only ESC begins a sequence. */
        {"\xC2\x9B"
         "31mred\xC2\x9D"
         "0;t\xC2\x9C!",
         "\\x9b31mred\\x9d0;t\\x9c!"},
        {"\x1B]0;title\xC2\x9Cmore", "0;title\\x9cmore"},
        {"a\x01\x07\x0B\x0C\x7Fz", "a\\x01\\x07\\x0b\\x0c\\x7fz"},
        {"\xC2\x80\r\xC2\x9F", "\\x80\n\\x9f"},
        {"\xC2", "\xC2"},
        {"\xC2\xA0", "\xC2\xA0"}, /* a blank */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length;
        AUTO_FREE char *plain = clean(cases[i].text, &length);

        assert_string_equal(plain, cases[i].plain);
        assert_int_equal(length, strlen(cases[i].plain));
    }
}

/* LINE, COUNT times. Owned by the caller. */
static char *times(const char *line, size_t count)
{
    char *text = memory_new(count * strlen(line) + 1, 1);
    char *end = text;

    while (count-- > 0)
        end = stpcpy(end, line);
    return text;
}

static void test_many_equal_lines_become_a_count(void **state)
{
    static const struct {
        const char *line;
        size_t count;
        const char *collapsed;
    } cases[] = {
        {"spam\n", 1000, "before\nspam\n... [999 more lines like this] ...\nafter"},
        {"\n", 400, "before\n\n... [399 more lines like this] ...\nafter"},
        {"spam\n", 3, "before\nspam\nspam\nspam\nafter"},
        {"0\n", 100, NULL},
        {"a\nb\n", 100, "before\na\nb\n... [198 more lines like these] ...\nafter"},
        {"a\nb\nc\n", 100, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *lines = times(cases[i].line, cases[i].count);
        AUTO_FREE char *text = memory_format("before\n%safter", lines);
        size_t length;
        AUTO_FREE char *collapsed = plain_text_collapse(text, strlen(text), &length);

        assert_string_equal(collapsed, cases[i].collapsed ? cases[i].collapsed : text);
        assert_int_equal(length, strlen(collapsed));
    }
}

static void test_the_last_line_needs_no_newline_to_be_equal(void **state)
{
    AUTO_FREE char *lines = times("spam\n", 1000);
    AUTO_FREE char *text = memory_format("%sspam", lines);
    size_t length;
    AUTO_FREE char *collapsed = plain_text_collapse(text, strlen(text), &length);

    (void)state;
    assert_string_equal(collapsed, "spam\n... [1000 more lines like this] ...\n");
}

static void test_files_of_the_directory_have_short_names_in_tracebacks(void **state)
{
    static const struct plain_case cases[] = {
        {"  File \"/d/h/script.py\", line 1, in <module>\n  File \"/d/h/a/b.py\", line 2\n",
         "  File \"script.py\", line 1, in <module>\n  File \"a/b.py\", line 2\n"},
        {"x\n/d/h/script.py:3: UserWarning: y\n", "x\nscript.py:3: UserWarning: y\n"},
        {"/d/h/script.py:3: y", "script.py:3: y"},
        /* What a script prints on purpose stays. */
        {"/d/h/script.py\n", "/d/h/script.py\n"},
        {"/d/h/rows.csv: 3\n", "/d/h/rows.csv: 3\n"},
        {"see /d/h/script.py:3\n", "see /d/h/script.py:3\n"},
        {"File \"/d/hh/script.py\"", "File \"/d/hh/script.py\""},
        {"/d/h/", "/d/h/"},
        {"/d/h", "/d/h"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length;
        AUTO_FREE char *shorter =
            plain_text_shorten(cases[i].text, strlen(cases[i].text), "/d/h", &length);

        assert_string_equal(shorter, cases[i].plain);
        assert_int_equal(length, strlen(cases[i].plain));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_has_all_states_that_are_short),
        cmocka_unit_test(test_a_line_that_goes_up_is_a_state_of_the_line_above),
        cmocka_unit_test(test_nested_bars_are_two_of_them),
        cmocka_unit_test(test_control_sequences_are_gone),
        cmocka_unit_test(test_control_characters_are_shown),
        cmocka_unit_test(test_many_equal_lines_become_a_count),
        cmocka_unit_test(test_the_last_line_needs_no_newline_to_be_equal),
        cmocka_unit_test(test_files_of_the_directory_have_short_names_in_tracebacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
