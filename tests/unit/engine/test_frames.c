#include "environments/engine/frames.h"

#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define BYTES(TEXT) (TEXT), sizeof(TEXT) - 1

struct listener {
    struct frames frames;
    char seen[FRAME_STREAMS][64];
};

static void on_output(struct frames *frames, enum frame_stream stream, const char *data,
                      size_t length)
{
    struct listener *listener = CONTAINER_OF(frames, struct listener, frames);

    assert_true(length > 0);
    assert_true(strlen(listener->seen[stream]) + length < sizeof listener->seen[stream]);
    strncat(listener->seen[stream], data, length);
}

static int feed(struct listener *listener, const char *data, size_t length)
{
    struct error err = ERROR_INIT;

    listener->frames.output = on_output;
    return frames_feed(&listener->frames, data, length, &err);
}

static const char two_streams[] = "\1\0\0\0\0\0\0\3out\2\0\0\0\0\0\0\5error\1\0\0\0\0\0\0\0"
                                  "\1\0\0\0\0\0\0\4more\0\0\0\0\0\0\0\1!";

static void test_streams_are_told_apart_however_they_are_split(void **state)
{
    const size_t length = sizeof two_streams - 1;

    (void)state;
    for (size_t first = 0; first <= length; first++)
        for (size_t second = first; second <= length; second++) {
            struct listener listener = {0};

            assert_int_equal(feed(&listener, two_streams, first), 0);
            assert_int_equal(feed(&listener, two_streams + first, second - first), 0);
            assert_int_equal(feed(&listener, two_streams + second, length - second), 0);
            assert_string_equal(listener.seen[FRAME_STDOUT], "outmore!");
            assert_string_equal(listener.seen[FRAME_STDERR], "error");
            assert_true(frames_are_whole(&listener.frames));
        }
}

static void test_stream_that_is_cut_off_is_not_whole(void **state)
{
    (void)state;
    for (size_t length = 1; length < FRAME_HEADER_BYTES + 3; length++) {
        struct listener listener = {0};

        assert_int_equal(feed(&listener, two_streams, length), 0);
        assert_false(frames_are_whole(&listener.frames));
    }
}

static void test_what_is_no_frame_is_an_error(void **state)
{
    static const struct {
        const char *data;
        size_t length;
    } garbled[] = {
        {BYTES("\3\0\0\0\0\0\0\1x")}, {BYTES("\1\1\0\0\0\0\0\1x")},
        {BYTES("\1\0\0\1\0\0\0\1x")}, {BYTES("HTTP/1.1 ")},
        {BYTES("\1\0\0\0\1\0\0\1x")}, {BYTES("\2\0\0\0\xff\xff\xff\xff")},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(garbled); i++) {
        struct listener listener = {0};

        assert_int_equal(feed(&listener, garbled[i].data, garbled[i].length), -1);
        assert_string_equal(listener.seen[FRAME_STDOUT], "");
    }
}

static void test_longest_frame_is_one(void **state)
{
    struct listener listener = {0};

    (void)state;
    assert_int_equal(feed(&listener, BYTES("\1\0\0\0\1\0\0\0begin")), 0);
    assert_string_equal(listener.seen[FRAME_STDOUT], "begin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_are_told_apart_however_they_are_split),
        cmocka_unit_test(test_stream_that_is_cut_off_is_not_whole),
        cmocka_unit_test(test_what_is_no_frame_is_an_error),
        cmocka_unit_test(test_longest_frame_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
