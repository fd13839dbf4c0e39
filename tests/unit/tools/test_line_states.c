#include "server/tools/line_states.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { ROOM_BYTES = 1 << 24 };

/* A line with 100 states, which FORMAT makes of their number, and LAST. */
static void put_states(struct line_states *lines, const char *format, const char *last)
{
    for (int i = 0; i < 100; i++) {
        AUTO_FREE char *text = memory_format("%s %d", format, i);

        line_states_put(lines, text, strlen(text));
        line_states_return(lines);
    }
    line_states_put(lines, last, strlen(last));
    line_states_end(lines);
}

static void assert_shown(const struct line_states *lines, const char *expected, size_t untold)
{
    AUTO_FREE char *text = memory_format("%.*s", (int)lines->length, lines->bytes);

    assert_string_equal(text, expected);
    assert_int_equal(lines->untold, untold);
}

static void test_of_many_states_that_are_alike_the_newest_is_left(void **state)
{
    static const struct {
        const char *format;
        const char *last;
        const char *shown;
        size_t untold;
    } cases[] = {
        {"downloaded 7 %", "downloaded 100 %",
         "... [100 earlier states of this line left out] ...\ndownloaded 100 %\n", 0},
        {"|\xE2\x96\x88 7/10", "|\xE2\x96\x88\xE2\x96\x88\xE2\x96\x88 done",
         "... [100 earlier states of this line left out] "
         "...\n|\xE2\x96\x88\xE2\x96\x88\xE2\x96\x88 "
         "done\n",
         0},
        {"file 1 / 20", "file 20 / 20",
         "... [100 earlier states of this line left out] ...\nfile 20 / 20\n", 0},
        /* They say something that is nowhere else. */
        {"row", "row 100", "... [100 earlier states of this line left out] ...\nrow 100\n", 100},
        {"1/2/2024", "2/2/2024 3",
         "... [100 earlier states of this line left out] ...\n2/2/2024 3\n", 100},
        {"2024-01-01,", "2024-01-02, 3",
         "... [100 earlier states of this line left out] ...\n2024-01-02, 3\n", 100},
        {"row", "the end", "... [99 earlier states of this line left out] ...\nrow 99\nthe end\n",
         99},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *room = memory_new(ROOM_BYTES, 1);
        struct line_states lines = {.bytes = room};

        put_states(&lines, cases[i].format, cases[i].last);
        assert_shown(&lines, cases[i].shown, cases[i].untold);
    }
}

static void test_a_spinner_says_nothing(void **state)
{
    AUTO_FREE char *room = memory_new(ROOM_BYTES, 1);
    struct line_states lines = {.bytes = room};

    (void)state;
    for (int i = 0; i < 100; i++) {
        line_states_put(&lines, "working ", 8);
        line_states_put(&lines, &"|/-\\"[i % 4], 1);
        line_states_return(&lines);
    }
    line_states_finish(&lines);
    assert_shown(&lines, "... [99 earlier states of this line left out] ...\nworking \\", 0);
}

/* Each has letters of its own. */
static void test_rows_that_differ_are_all_there(void **state)
{
    AUTO_FREE char *room = memory_new(ROOM_BYTES, 1);
    AUTO_FREE char *expected = memory_new(ROOM_BYTES, 1);
    struct line_states lines = {.bytes = room};
    char *end = expected;

    (void)state;
    for (int i = 0; i < 26 * 26; i++) {
        const char row[] = {(char)('a' + i / 26), (char)('a' + i % 26), ',', '5', '%'};

        line_states_put(&lines, row, sizeof row);
        line_states_return(&lines);
        end = mempcpy(end, row, sizeof row);
        *end++ = '\n';
    }
    end[-1] = '\0';
    line_states_finish(&lines);
    assert_shown(&lines, expected, 0);
}

/* A short state after long ones, and long ones after it: the text never overlaps itself. */
static void test_states_of_any_length_are_moved_whole(void **state)
{
    AUTO_FREE char *room = memory_new(ROOM_BYTES, 1);
    AUTO_FREE char *longest = memory_format("%0*d", 3000, 1);
    struct line_states lines = {.bytes = room};

    (void)state;
    line_states_put(&lines, longest, strlen(longest));
    line_states_return(&lines);
    line_states_put(&lines, "2", 1);
    line_states_return(&lines);
    line_states_put(&lines, longest, strlen(longest) - 1);
    line_states_end(&lines);
    line_states_put(&lines, "next", 4);
    line_states_finish(&lines);
    assert_int_equal(lines.untold, 2);
    assert_memory_equal(lines.bytes, "... [2 earlier states of this line left out] ...\n0000", 53);
    assert_memory_equal(lines.bytes + lines.length - 7, "00\nnext", 7);
}

/* Returns and backspaces behind a long state, again and again. */
static void test_many_returns_take_no_time(void **state)
{
    enum { TIMES = 1000000 };
    AUTO_FREE char *room = memory_new(ROOM_BYTES, 1);
    AUTO_FREE char *longest = memory_format("%0*d", 3000000, 1);
    struct line_states lines = {.bytes = room};

    (void)state;
    line_states_put(&lines, longest, strlen(longest));
    for (int i = 0; i < TIMES; i++) {
        line_states_back(&lines, 2);
        line_states_put(&lines, "x", 1);
    }
    line_states_return(&lines);
    for (int i = 0; i < TIMES; i++) {
        line_states_put(&lines, "ab", 1 + i % 2);
        line_states_return(&lines);
    }
    line_states_finish(&lines);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_many_states_that_are_alike_the_newest_is_left),
        cmocka_unit_test(test_a_spinner_says_nothing),
        cmocka_unit_test(test_rows_that_differ_are_all_there),
        cmocka_unit_test(test_states_of_any_length_are_moved_whole),
        cmocka_unit_test(test_many_returns_take_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
