/* Streams of events, cut anywhere. */
#include "toolbox/event_reader.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct stream {
    struct event_reader reader;
    char events[512];
};

static void on_event(struct event_reader *reader, const char *type, char *data, size_t length)
{
    struct stream *stream = CONTAINER_OF(reader, struct stream, reader);
    const size_t used = strlen(stream->events);

    assert_int_equal(strlen(data), length);
    snprintf(stream->events + used, sizeof stream->events - used, "[%s:%s]", type, data);
}

static void test_events_are_the_same_however_they_come(void **state)
{
    static const struct {
        const char *text;
        const char *events;
    } cases[] = {
        {"data: a\n\n", "[message:a]"},
        {"data:a\r\ndata: b\r\n\r\n", "[message:a\nb]"},
        {"\xef\xbb\xbf"
         "event: x\rdata\r\r",
         "[x:]"},
        {": ping\n\nid: 7\nretry: 1500\ndata: {}\n\nid\nid: a\x01\n\n", "[message:{}]"},
        {"event: x\n\ndata: a\n\n", "[message:a]"},
        {"data: not ended", ""},
        {"nothing: x\ndata:  two\n\n", "[message: two]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t piece = 1; piece <= strlen(cases[i].text); piece++) {
            struct stream stream = {0};
            struct error err = ERROR_INIT;

            event_reader_init(&stream.reader, 100, on_event);
            for (size_t at = 0; at < strlen(cases[i].text); at += piece)
                assert_int_equal(event_reader_feed(&stream.reader, cases[i].text + at,
                                                   size_min(piece, strlen(cases[i].text) - at),
                                                   &err),
                                 0);
            assert_string_equal(stream.events, cases[i].events);
            event_reader_deinit(&stream.reader);
        }
}

static void test_ids_and_pauses_are_kept(void **state)
{
    struct stream stream = {0};
    struct error err = ERROR_INIT;
    static const char text[] = "id: 7\nretry: 1500\n\nretry: x\n\n";

    (void)state;
    event_reader_init(&stream.reader, 100, on_event);
    assert_int_equal(event_reader_feed(&stream.reader, text, strlen(text), &err), 0);
    assert_string_equal(stream.reader.id, "7");
    assert_true(stream.reader.retry_seconds > 1.4 && stream.reader.retry_seconds < 1.6);
    event_reader_deinit(&stream.reader);
}

static void test_an_event_that_is_too_long_ends_the_stream(void **state)
{
    static const char line[] = "data: 0123456789\n";
    struct stream stream = {0};
    struct error err = ERROR_INIT;
    int ret = 0;

    (void)state;
    event_reader_init(&stream.reader, 100, on_event);
    for (int i = 0; i < 20 && ret == 0; i++)
        ret = event_reader_feed(&stream.reader, line, strlen(line), &err);
    assert_int_equal(ret, -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    event_reader_deinit(&stream.reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_are_the_same_however_they_come),
        cmocka_unit_test(test_ids_and_pauses_are_kept),
        cmocka_unit_test(test_an_event_that_is_too_long_ends_the_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
