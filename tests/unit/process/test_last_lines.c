#include "environments/process/last_lines.h"

#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

struct listener {
    struct last_lines lines;
    unsigned count;
    char newest[LAST_LINES_LINE + 1];
};

static void on_said(struct last_lines *lines, const char *line)
{
    struct listener *listener = CONTAINER_OF(lines, struct listener, lines);

    listener->count++;
    snprintf(listener->newest, sizeof listener->newest, "%s", line);
}

static void feed(struct listener *listener, const char *text)
{
    last_lines_feed(&listener->lines, 0, text, strlen(text));
}

static void test_lines_are_told_as_they_end(void **state)
{
    struct listener listener = {.lines.said = on_said};

    (void)state;
    feed(&listener, "one\ntw");
    assert_int_equal(listener.count, 1);
    feed(&listener, "o  \n\n \nthree");
    assert_int_equal(listener.count, 2);
    assert_string_equal(listener.newest, "two");
    assert_string_equal(last_lines_end(&listener.lines), "one\ntwo\nthree");
    assert_int_equal(listener.count, 3);
}

static void test_the_oldest_lines_go(void **state)
{
    struct listener listener = {0};
    char line[64];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof line, "line %d\n", i);
        feed(&listener, line);
    }
    const char *kept = last_lines_end(&listener.lines);

    assert_true(strlen(kept) < LAST_LINES_BYTES && strlen(kept) > LAST_LINES_BYTES - 20);
    assert_memory_equal(kept, "line ", 5);
    assert_string_equal(kept + strlen(kept) - 8, "line 999");
}

static void test_a_long_line_is_cut(void **state)
{
    struct listener listener = {0};

    (void)state;
    for (int i = 0; i < 100000; i++)
        feed(&listener, "0123456789");
    assert_int_equal(strlen(last_lines_end(&listener.lines)), LAST_LINES_LINE);
}

static void test_nothing_is_nothing(void **state)
{
    struct listener listener = {0};

    (void)state;
    assert_string_equal(last_lines_end(&listener.lines), "");
    feed(&listener, "\n\r\n \n");
    assert_string_equal(last_lines_end(&listener.lines), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_told_as_they_end),
        cmocka_unit_test(test_the_oldest_lines_go),
        cmocka_unit_test(test_a_long_line_is_cut),
        cmocka_unit_test(test_nothing_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
