#include "server/transport/http/http_body.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TEXT(LITERAL) LITERAL, sizeof(LITERAL) - 1

enum { LIMIT = 20 };

/* Feeds TEXT in pieces of STEP bytes as far as it is taken; *RET_USED of them were. */
static enum http_body_state feed(struct http_body *body, const char *text, size_t length,
                                 size_t step, size_t *ret_used)
{
    enum http_body_state state = HTTP_BODY_PARTIAL;

    *ret_used = 0;
    while (state == HTTP_BODY_PARTIAL && *ret_used < length) {
        size_t piece = step < length - *ret_used ? step : length - *ret_used;
        char *copy = memory_new(piece, 1); /* exactly, for the sanitizer */
        size_t used;

        memcpy(copy, text + *ret_used, piece);
        state = http_body_feed(body, copy, piece, &used);
        free(copy);
        *ret_used += used;
        if (state == HTTP_BODY_PARTIAL)
            assert_int_equal(used, piece);
    }
    return state;
}

#define BYTES_100                                                                                  \
    "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901" \
    "23456789"
#define BYTES_254 BYTES_100 BYTES_100 "012345678901234567890123456789012345678901234567890123"

static const struct {
    const char *text;
    size_t length;
    enum http_body_state state;
    const char *body; /* where it is COMPLETE */
    size_t rest;      /* bytes that follow it */
} chunked[] = {
    {TEXT("0\r\n\r\n"), HTTP_BODY_COMPLETE, "", 0},
    {TEXT("0\r\n\r\nGET "), HTTP_BODY_COMPLETE, "", 4},
    {TEXT("3\r\nabc\r\n0\r\n\r\n"), HTTP_BODY_COMPLETE, "abc", 0},
    {TEXT("3\r\na\r\n\r\n00\r\n\r\n"), HTTP_BODY_COMPLETE, "a\r\n", 0},
    {TEXT("14\r\n01234567890123456789\r\n0\r\n\r\n"), HTTP_BODY_COMPLETE, "01234567890123456789",
     0},
    {TEXT("000000000000000A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"), HTTP_BODY_COMPLETE,
     "01234567890123456789", 0},
    {TEXT("1;a=b\r\nx\r\n0;last\r\n\r\n"), HTTP_BODY_COMPLETE, "x", 0},
    {TEXT("1;" BYTES_254 "56\r\nx\r\n0\r\n\r\n"), HTTP_BODY_COMPLETE, "x", 0},
    {TEXT("1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\nz"), HTTP_BODY_COMPLETE, "x", 1},

    {TEXT("3\r\nabc\r\n0\r\n"), HTTP_BODY_PARTIAL, NULL, 0},
    {TEXT("3\r\nabc"), HTTP_BODY_PARTIAL, NULL, 0},

    {TEXT("15\r\n012345678901234567890"), HTTP_BODY_TOO_LARGE, NULL, 0},
    {TEXT("14\r\n01234567890123456789\r\n1\r\n0\r\n"), HTTP_BODY_TOO_LARGE, NULL, 0},
    {TEXT("FFFFFFFFFFFFFFFF\r\nx"), HTTP_BODY_TOO_LARGE, NULL, 0},
    {TEXT("7FFFFFFFFFFFFFFF\r\nx"), HTTP_BODY_TOO_LARGE, NULL, 0},

    {TEXT("\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("x\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("-1\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("+1\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0x1\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT(" 1\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1 \r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("00000000000000001\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("10000000000000001\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1\rx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1\r\nxx"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1\r\nx\n0\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1\r\nx\rx"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1\r\nx\r\n\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1;\x01\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1;\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1;a=\"b\"\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1;a;b\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1;=b\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1;a==\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1;\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1; a\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("1;" BYTES_254 "567\r\nx\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0\r\nA : b\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0\r\nA: b\r\n c\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0\r\nA: b\n\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0\r\nA: \0\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0\r\n\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0\r\ncontent-length: 5\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0\r\nTransfer-Encoding: chunked\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
    {TEXT("0\r\nHost: b\r\n\r\n"), HTTP_BODY_BAD, NULL, 0},
};

static void test_reads_chunks_strictly_whatever_pieces_they_come_in(void **state)
{
    static const struct http_head head = {.is_chunked = true};
    struct http_body body;

    (void)state;
    http_body_init(&body);
    for (size_t i = 0; i < ARRAY_SIZE(chunked); i++) {
        print_message("%s\n", chunked[i].text);
        for (size_t step = 1; step <= chunked[i].length; step++) {
            size_t used;

            http_body_clear(&body);
            http_body_begin(&body, &head, LIMIT);
            assert_int_equal(feed(&body, chunked[i].text, chunked[i].length, step, &used),
                             chunked[i].state);
            if (chunked[i].state != HTTP_BODY_COMPLETE)
                continue;
            assert_int_equal(used, chunked[i].length - chunked[i].rest);
            assert_string_equal(buffer_bytes(&body.bytes), chunked[i].body);
        }
    }
    http_body_deinit(&body);
}

static void test_a_trailer_is_bounded(void **state)
{
    static const struct http_head head = {.is_chunked = true};
    struct http_body body;
    size_t length = HTTP_TRAILER_BYTES + 10;
    char *text = memory_new(length, 1);
    size_t used;

    (void)state;
    memset(text, 'x', length);
    memcpy(text, "0\r\nA:", 5);
    http_body_init(&body);
    http_body_begin(&body, &head, LIMIT);
    assert_int_equal(feed(&body, text, length, length, &used), HTTP_BODY_BAD);
    assert_true(used <= 3 + HTTP_TRAILER_BYTES + 1);
    http_body_deinit(&body);
    free(text);
}

static void test_a_sized_body_ends_where_it_was_said(void **state)
{
    static const struct {
        size_t length;
        enum http_body_state state;
    } cases[] = {
        {0, HTTP_BODY_COMPLETE},
        {1, HTTP_BODY_COMPLETE},
        {LIMIT, HTTP_BODY_COMPLETE},
        {LIMIT + 1, HTTP_BODY_TOO_LARGE},
    };
    struct http_body body;

    (void)state;
    http_body_init(&body);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct http_head head = {.content_length = cases[i].length};
        size_t used;

        http_body_clear(&body);
        http_body_begin(&body, &head, LIMIT);
        assert_int_equal(http_body_feed(&body, BYTES_100, 100, &used), cases[i].state);
        if (cases[i].state != HTTP_BODY_COMPLETE)
            continue;
        assert_int_equal(used, cases[i].length);
        assert_int_equal(strlen(buffer_bytes(&body.bytes)), cases[i].length);
    }
    http_body_deinit(&body);
}

static void test_a_dropped_body_is_counted_and_not_kept(void **state)
{
    static const struct http_head head = {.content_length = 150};
    struct http_body body;
    size_t used;

    (void)state;
    http_body_init(&body);
    http_body_begin(&body, &head, LIMIT);
    http_body_drop(&body);
    assert_int_equal(http_body_feed(&body, BYTES_100, 100, &used), HTTP_BODY_PARTIAL);
    assert_int_equal(http_body_feed(&body, BYTES_100, 100, &used), HTTP_BODY_COMPLETE);
    assert_int_equal(used, 50);
    assert_int_equal(body.received, 150);
    assert_int_equal(buffer_length(&body.bytes), 0);
    http_body_deinit(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_chunks_strictly_whatever_pieces_they_come_in),
        cmocka_unit_test(test_a_trailer_is_bounded),
        cmocka_unit_test(test_a_sized_body_ends_where_it_was_said),
        cmocka_unit_test(test_a_dropped_body_is_counted_and_not_kept),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
