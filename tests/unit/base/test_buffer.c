#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char TEXT[] = "The quick brown fox jumps over the lazy dog";

enum { TEXT_LENGTH = sizeof TEXT - 1 };

static void assert_holds(const struct buffer *buffer, const char *text, size_t length)
{
    assert_int_equal(buffer_length(buffer), length);
    if (length > 0)
        assert_memory_equal(buffer_bytes(buffer), text, length);
}

static void test_bytes_come_out_as_they_went_in_for_every_split(void **state)
{
    (void)state;
    for (size_t in = 1; in <= TEXT_LENGTH; in++)
        for (size_t out = 1; out <= TEXT_LENGTH; out++) {
            struct error err = ERROR_INIT;
            struct buffer buffer;
            size_t read = 0;

            buffer_init(&buffer, TEXT_LENGTH);
            for (size_t i = 0; i < TEXT_LENGTH; i += in) {
                size_t length = TEXT_LENGTH - i < in ? TEXT_LENGTH - i : in;

                assert_int_equal(buffer_append(&buffer, TEXT + i, length, &err), 0);
            }
            while (read < TEXT_LENGTH) {
                size_t length = TEXT_LENGTH - read < out ? TEXT_LENGTH - read : out;

                assert_holds(&buffer, TEXT + read, TEXT_LENGTH - read);
                buffer_consume(&buffer, length);
                read += length;
            }
            assert_holds(&buffer, "", 0);
            buffer_deinit(&buffer);
        }
}

static void test_what_would_pass_the_limit_is_refused_whole(void **state)
{
    struct error err = ERROR_INIT;
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer, 10);
    assert_int_equal(buffer_append(&buffer, TEXT, 10, &err), 0);
    assert_int_equal(buffer_append(&buffer, "x", 1, &err), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_string_equal(err.message, "more than 10 bytes");
    assert_holds(&buffer, TEXT, 10);
    err = (struct error)ERROR_INIT;
    assert_null(buffer_reserve(&buffer, SIZE_MAX, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
    buffer_deinit(&buffer);
}

static void test_what_is_consumed_makes_room_below_the_limit(void **state)
{
    struct error err = ERROR_INIT;
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer, 1000);
    for (int i = 0, first = 0; i < 10000; i++) {
        assert_int_equal(buffer_append(&buffer, (char *)&i, sizeof i, &err), 0);
        if (buffer_length(&buffer) < 900)
            continue;
        assert_memory_equal(buffer_bytes(&buffer), &first, sizeof first);
        buffer_consume(&buffer, sizeof first);
        first++;
    }
    assert_true(buffer.capacity <= 4096);
    buffer_deinit(&buffer);
}

static void test_nothing_can_be_appended_to_a_new_buffer(void **state)
{
    struct error err = ERROR_INIT;
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer, 10);
    assert_null(buffer_bytes(&buffer));
    assert_int_equal(buffer_append(&buffer, NULL, 0, &err), 0);
    assert_int_equal(buffer_append_string(&buffer, "", &err), 0);
    assert_int_equal(buffer_length(&buffer), 0);
    buffer_consume(&buffer, 0);
    buffer_deinit(&buffer);
}

static void test_reserved_bytes_count_when_they_are_committed(void **state)
{
    struct error err = ERROR_INIT;
    struct buffer buffer;
    char *room;

    (void)state;
    buffer_init(&buffer, 100);
    room = buffer_reserve(&buffer, 100, &err);
    assert_non_null(room);
    assert_int_equal(buffer_length(&buffer), 0);
    memset(room, 'x', 3);
    buffer_commit(&buffer, 3);
    assert_holds(&buffer, "xxx", 3);
    buffer_deinit(&buffer);
}

static void test_formatted_text_is_appended(void **state)
{
    struct error err = ERROR_INIT;
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer, 10);
    assert_int_equal(buffer_append_format(&buffer, &err, "%d-%s", 7, "a"), 0);
    buffer_print(&buffer, "%s%c", "b", 'c');
    assert_holds(&buffer, "7-abc", 5);
    assert_int_equal(buffer_append_format(&buffer, &err, "%d", 123456), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_holds(&buffer, "7-abc", 5);
    buffer_deinit(&buffer);
}

static void test_large_storage_is_given_back_when_empty(void **state)
{
    struct error err = ERROR_INIT;
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer, 1000 * 1000);
    assert_non_null(buffer_reserve(&buffer, 500 * 1000, &err));
    memset(buffer_bytes(&buffer), 'x', 500 * 1000);
    buffer_commit(&buffer, 500 * 1000);
    buffer_consume(&buffer, 500 * 1000);
    assert_null(buffer.data);
    assert_int_equal(buffer_append_string(&buffer, "again", &err), 0);
    assert_holds(&buffer, "again", 5);
    buffer_deinit(&buffer);
    buffer_deinit(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_come_out_as_they_went_in_for_every_split),
        cmocka_unit_test(test_what_would_pass_the_limit_is_refused_whole),
        cmocka_unit_test(test_what_is_consumed_makes_room_below_the_limit),
        cmocka_unit_test(test_nothing_can_be_appended_to_a_new_buffer),
        cmocka_unit_test(test_reserved_bytes_count_when_they_are_committed),
        cmocka_unit_test(test_formatted_text_is_appended),
        cmocka_unit_test(test_large_storage_is_given_back_when_empty),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
