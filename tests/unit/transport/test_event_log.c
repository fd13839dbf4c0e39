#include "server/transport/http/event_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void assert_next(const struct event_log *log, unsigned long number, const char *text)
{
    const struct event *event = event_log_next(log, number);

    if (!text) {
        assert_null(event);
        return;
    }
    assert_non_null(event);
    assert_string_equal(event->text, text);
    assert_int_equal(event->length, strlen(text));
}

static void test_hands_out_what_follows(void **state)
{
    struct event_log log;

    (void)state;
    event_log_init(&log, 100);
    assert_next(&log, 0, NULL);
    event_log_append(&log, "one", 3);
    event_log_append(&log, "two", 3);
    event_log_append(&log, "three", 5);
    assert_next(&log, 0, "one");
    assert_next(&log, 1, "two");
    assert_next(&log, 2, "three");
    assert_next(&log, 3, NULL);
    assert_int_equal(log.last, 3);
    event_log_deinit(&log);
}

static void test_gives_up_the_oldest(void **state)
{
    struct event_log log;

    (void)state;
    event_log_init(&log, 10);
    for (int i = 0; i < 1000; i++)
        event_log_append(&log, "12345", 5);
    assert_true(log.bytes <= 20);
    assert_int_equal(event_log_next(&log, 0)->number, 998);
    assert_int_equal(event_log_next(&log, 998)->number, 999);
    event_log_deinit(&log);
}

static void test_keeps_the_newest_whatever_its_size(void **state)
{
    static char large[1000];
    struct event_log log;

    (void)state;
    event_log_init(&log, 10);
    event_log_append(&log, "small", 5);
    event_log_append(&log, large, sizeof(large));
    assert_int_equal(event_log_next(&log, 0)->number, 1);
    assert_int_equal(event_log_next(&log, 1)->length, sizeof(large));
    event_log_append(&log, "next", 4);
    assert_int_equal(event_log_next(&log, 0)->number, 3);
    event_log_deinit(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hands_out_what_follows),
        cmocka_unit_test(test_gives_up_the_oldest),
        cmocka_unit_test(test_keeps_the_newest_whatever_its_size),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
