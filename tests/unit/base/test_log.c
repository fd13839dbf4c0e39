#include "base/log.h"

#include "tests/unit/base/listening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void test_a_line_carries_no_control_characters(void **state)
{
    struct listening listening = listen_to_stderr();

    (void)state;
    log_error("cannot read %s", "\x1B[2J\r\xC2\x9B"
                                "1m\xFF.");
    assert_heard(&listening, "pyexecd: cannot read ?[2J???1m?.\n");
}

static void test_lines_that_an_error_quotes_are_indented(void **state)
{
    struct listening listening = listen_to_stderr();

    (void)state;
    log_warning("installing numpy: pip failed\nno such package\npyexecd: forged\n");
    assert_heard(&listening, "pyexecd: installing numpy: pip failed\n"
                             "pyexecd:   no such package\n"
                             "pyexecd:   pyexecd: forged\n");
}

static void test_what_is_less_severe_than_wanted_is_not_written(void **state)
{
    struct listening listening = listen_to_stderr();

    (void)state;
    log_info("not this");
    log_open(LOG_LEVEL_INFO);
    log_info("this");
    log_debug("nor this");
    log_open(LOG_LEVEL_WARNING);
    assert_heard(&listening, "pyexecd: this\n");
}

static json_t *read_line(struct listening *listening)
{
    char text[8192] = "";
    json_t *line;

    dup2(listening->before, STDERR_FILENO);
    close(listening->before);
    rewind(listening->file);
    assert_non_null(fgets(text, sizeof text, listening->file));
    assert_null(fgets(text + strlen(text), 10, listening->file));
    fclose(listening->file);
    line = json_loads(text, 0, NULL);
    assert_non_null(line);
    return line;
}

static void test_an_event_is_a_line_of_json(void **state)
{
    struct listening listening = listen_to_stderr();
    json_t *members =
        json_pack("{s:s, s:i, s:b}", "name", "a\n\x1B[2J\x7F\xC2\x9B", "number", 5, "flag", 1);
    json_t *line;

    (void)state;
    log_open(LOG_LEVEL_INFO);
    log_event(LOG_LEVEL_INFO, "call", members);
    log_event(LOG_LEVEL_DEBUG, "other", members);
    assert_false(log_wants(LOG_LEVEL_DEBUG));
    log_open(LOG_LEVEL_WARNING);
    line = read_line(&listening);
    assert_int_equal(strlen(json_string_value(json_object_get(line, "time"))), 24);
    assert_string_equal(json_string_value(json_object_get(line, "event")), "call");
    assert_string_equal(json_string_value(json_object_get(line, "name")), "a\n\x1B[2J???");
    assert_int_equal(json_integer_value(json_object_get(line, "number")), 5);
    assert_true(json_is_true(json_object_get(line, "flag")));
    json_decref(line);
    json_decref(members);
}

static void test_long_strings_of_an_event_are_cut(void **state)
{
    struct listening listening = listen_to_stderr();
    char text[1001] = "";
    json_t *members;
    json_t *line;

    (void)state;
    for (size_t i = 0; i < 1000; i += 2)
        memcpy(text + i, "\xC3\xA4", 2);
    members = json_pack("{s:s}", "name", text);
    log_open(LOG_LEVEL_INFO);
    log_event(LOG_LEVEL_INFO, "call", members);
    log_open(LOG_LEVEL_WARNING);
    line = read_line(&listening);
    assert_int_equal(json_string_length(json_object_get(line, "name")), 200);
    json_decref(line);
    json_decref(members);
}

static void on_before(void *data)
{
    ++*(int *)data;
    assert_int_equal(write(STDERR_FILENO, "<", 1), 1);
}

static void test_who_has_drawn_on_the_terminal_is_told_before(void **state)
{
    struct listening listening = listen_to_stderr();
    int count = 0;

    (void)state;
    log_precede(on_before, &count);
    log_error("a\nb");
    log_debug("nothing");
    log_precede(NULL, NULL);
    log_error("c");
    assert_heard(&listening, "<pyexecd: a\npyexecd:   b\npyexecd: c\n");
    assert_int_equal(count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_carries_no_control_characters),
        cmocka_unit_test(test_lines_that_an_error_quotes_are_indented),
        cmocka_unit_test(test_what_is_less_severe_than_wanted_is_not_written),
        cmocka_unit_test(test_an_event_is_a_line_of_json),
        cmocka_unit_test(test_long_strings_of_an_event_are_cut),
        cmocka_unit_test(test_who_has_drawn_on_the_terminal_is_told_before),
    };

    unsetenv("JOURNAL_STREAM");
    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
