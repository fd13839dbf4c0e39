#include "environments/capture.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BYTES(LITERAL) (LITERAL), sizeof(LITERAL) - 1

static const struct text_case {
    size_t limit;
    const char *written;
    size_t written_length;
    const char *expected;
    size_t expected_length;
} text_cases[] = {
    {16, BYTES(""), BYTES("")},
    {16, BYTES("hello\n"), BYTES("hello\n")},
    {8, BYTES("12345678"), BYTES("12345678")}, /* exactly the limit */
    {8, BYTES("123456789"), BYTES("123456\n... [1 bytes left out] ...\n89")}, /* one more */
    {8, BYTES("12345\nabcdef"), BYTES("12345\n... [4 bytes left out] ...\nef")},
    {0, BYTES("abc"), BYTES("... [3 bytes left out] ...\n")},
    {1, BYTES("abc"), BYTES("a\n... [2 bytes left out] ...\n")},
    {4, BYTES("abcdef"), BYTES("abc\n... [2 bytes left out] ...\nf")},
    {64, BYTES("a\0b\033[31mred\033[0m\r\n"), BYTES("a\0b\033[31mred\033[0m\r\n")},
    {16, BYTES("\xFFz\xC3"), BYTES("\xEF\xBF\xBDz\xEF\xBF\xBD")},
    /* "äöü" fits, though the head ends inside the second character. */
    {4, BYTES("\xC3\xA4\xC3\xB6"), BYTES("\xC3\xA4\xC3\xB6")},
    /* Head and tail end and start inside characters: both halves go, and are counted. */
    {8, BYTES("12345\xC3\xA4....\xC3\xB6x"), BYTES("12345\n... [8 bytes left out] ...\nx")},
    {16, BYTES("0123456789ab\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"),
     BYTES("0123456789ab\n... [6 bytes left out] ...\n\xE2\x82\xAC")},
    /* Not text at all: nothing but what the limit says is lost, however the seam looks. */
    {8, BYTES("12345\xFF.....\xFFx"),
     BYTES("12345\xEF\xBF\xBD\n... [5 bytes left out] ...\n\xEF\xBF\xBDx")},
};

/* Feeds in three parts, split at every pair of places. */
static void check_text_in_every_split(const struct text_case *test)
{
    for (size_t first = 0; first <= test->written_length; first++) {
        for (size_t second = first; second <= test->written_length; second++) {
            struct capture capture;
            AUTO_JSON json_t *text = NULL;
            bool truncated;

            capture_init(&capture, test->limit);
            capture_append(&capture, test->written, first);
            capture_append(&capture, test->written + first, second - first);
            capture_append(&capture, test->written + second, test->written_length - second);
            text = capture_text(&capture, &truncated);
            assert_int_equal(json_string_length(text), test->expected_length);
            assert_memory_equal(json_string_value(text), test->expected, test->expected_length);
            assert_int_equal(capture.total, test->written_length);
            assert_int_equal(truncated, test->written_length > test->limit);
            capture_deinit(&capture);
        }
    }
}

static void test_text_is_head_and_tail_however_it_arrives(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(text_cases); i++)
        check_text_in_every_split(&text_cases[i]);
}

/* What a capture of LIMIT must show of a text of ASCII digits, worked out the slow way. */
static void check_against_plain_model(size_t limit, const char *written, size_t length)
{
    size_t tail = limit / 4;
    size_t head = limit - tail;
    AUTO_FREE char *expected = NULL;
    AUTO_JSON json_t *text = NULL;
    struct capture capture;

    if (length <= limit)
        expected = memory_format("%.*s", (int)length, written);
    else
        expected = memory_format("%.*s%s... [%zu bytes left out] ...\n%s", (int)head, written,
                                 head ? "\n" : "", length - limit, written + length - tail);
    capture_init(&capture, limit);
    for (size_t i = 0; i < length; i += 7)
        capture_append(&capture, written + i, length - i < 7 ? length - i : 7);
    text = capture_text(&capture, NULL);
    assert_string_equal(json_string_value(text), expected);
    capture_deinit(&capture);
}

static void test_every_length_around_every_small_limit(void **state)
{
    char written[128];

    (void)state;
    for (size_t length = 0; length < sizeof written - 1; length++) {
        for (size_t i = 0; i < length; i++)
            written[i] = (char)('0' + i % 10);
        written[length] = '\0';
        for (size_t limit = 0; limit < 40; limit++)
            check_against_plain_model(limit, written, length);
    }
}

static void test_ten_mebibytes_without_newline_are_counted_and_bounded(void **state)
{
    enum { LIMIT = 64 * 1024, CHUNK = 65536, CHUNKS = 160 };
    char *chunk = memory_new(CHUNK, 1);
    AUTO_JSON json_t *text = NULL;
    struct capture capture;

    (void)state;
    memset(chunk, 'x', CHUNK);
    capture_init(&capture, LIMIT);
    for (int i = 0; i < CHUNKS; i++)
        capture_append(&capture, chunk, CHUNK);
    text = capture_text(&capture, NULL);
    assert_int_equal(capture.total, (uint64_t)CHUNK * CHUNKS);
    assert_true(json_string_length(text) < LIMIT + 64);
    assert_true(capture.head_capacity + capture.limit / 4 <= LIMIT);
    assert_non_null(strstr(json_string_value(text), "\n... [10420224 bytes left out] ...\n"));
    capture_deinit(&capture);
    free(chunk);
}

/* Four-byte characters shifted by 0 to 3 bytes, so that the seams cut them everywhere. */
static void test_characters_are_never_cut(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        for (size_t limit = 8; limit < 40; limit++) {
            struct capture capture;
            AUTO_JSON json_t *text = NULL;

            capture_init(&capture, limit);
            capture_append(&capture, "abc", shift);
            for (int i = 0; i < 20; i++)
                capture_append(&capture, "\xF0\x9F\x90\x8D", 4);
            text = capture_text(&capture, NULL);
            assert_null(strstr(json_string_value(text), "\xEF\xBF\xBD"));
            capture_deinit(&capture);
        }
    }
}

static void test_a_deinitialised_capture_is_empty_and_may_be_deinitialised_again(void **state)
{
    struct capture capture;
    AUTO_JSON json_t *text = NULL;

    (void)state;
    capture_init(&capture, 4);
    capture_append(&capture, "123456", 6);
    capture_deinit(&capture);
    capture_deinit(&capture);
    text = capture_text(&capture, NULL);
    assert_string_equal(json_string_value(text), "");
}

static const struct line_case {
    const char *written;
    size_t limit;
    const char *expected; /* NULL: no line */
} line_cases[] = {
    {"", 80, NULL},
    {"\n \n\t\n", 80, NULL},
    {"one", 80, "one"},
    {"one\n", 80, "one"},
    {"one\ntwo\n\n  \n", 80, "two"},
    {"one\ntwo", 80, "two"},
    {"10%\r20%\r30%", 80, "30%"},
    {"\033[1;31mred\033[0m\a \n", 80, "red"},
    {"\033[K\n", 80, NULL},
    {"half a sequence \033[3", 80, "half a sequence"},
    {"a\tb", 80, "a b"},
    {"it\xC2\x92s", 80, "it?s"},
    {"12345678", 4, "1234"},
    {"\xC3\xA4\xC3\xB6", 3, "\xC3\xA4"},
    {"\xC3\xA4", 1, NULL},
    {"\xFF", 80, "\xEF\xBF\xBD"},
    {"half \xE2\x82", 80, "half"}, /* the rest of the character is still to come */
};

static void test_last_line_is_the_newest_that_is_not_blank(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(line_cases); i++) {
        const struct line_case *test = &line_cases[i];
        AUTO_FREE char *line = NULL;
        struct capture capture;

        capture_init(&capture, 1024);
        capture_append(&capture, test->written, strlen(test->written));
        line = capture_last_line(&capture, test->limit);
        if (test->expected)
            assert_string_equal(line, test->expected);
        else
            assert_null(line);
        capture_deinit(&capture);
    }
}

static void test_last_line_comes_from_the_tail_and_spans_the_seam(void **state)
{
    AUTO_FREE char *seam = NULL;
    AUTO_FREE char *tail = NULL;
    struct capture capture;

    (void)state;
    capture_init(&capture, 16);
    capture_append(&capture, "0123456\n89abcdef", 16);
    seam = capture_last_line(&capture, 80);
    assert_string_equal(seam, "89abcdef");
    capture_append(&capture, "ghijklmn", 8);
    tail = capture_last_line(&capture, 80);
    assert_string_equal(tail, "klmn");
    capture_deinit(&capture);
}

static void test_last_line_of_an_endless_line_is_its_end(void **state)
{
    AUTO_FREE char *line = NULL;
    struct capture capture;

    (void)state;
    capture_init(&capture, 1 << 20);
    for (int i = 0; i < 10000; i++)
        capture_append(&capture, "\xE2\x82\xAC", 3);
    line = capture_last_line(&capture, 9);
    assert_string_equal(line, "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC");
    capture_deinit(&capture);
}

/* Appends to TEXT the pieces behind PIECE that are there now. */
static void follow(const struct capture *capture, struct capture_piece *piece, struct buffer *text)
{
    struct error err = ERROR_INIT;

    while (capture_next_piece(capture, piece)) {
        assert_true(json_escaped_length(json_string_value(piece->text),
                                        json_string_length(piece->text)) <= 64 * 1024);
        assert_int_equal(buffer_append(text, json_string_value(piece->text),
                                       json_string_length(piece->text), &err),
                         0);
        json_decref(piece->text);
    }
}

/* Written in three parts, and followed after each. */
static void check_pieces_in_split(const char *written, size_t length, size_t first, size_t second)
{
    struct capture_piece piece = {0};
    struct error err = ERROR_INIT;
    struct capture capture;
    AUTO_JSON json_t *text = NULL;
    struct buffer pieces;

    buffer_init(&pieces, 1024);
    capture_init(&capture, 40);
    capture_append(&capture, written, first);
    follow(&capture, &piece, &pieces);
    capture_append(&capture, written + first, second - first);
    follow(&capture, &piece, &pieces);
    capture_append(&capture, written + second, length - second);
    follow(&capture, &piece, &pieces);
    if (capture_last_piece(&capture, &piece)) {
        assert_int_equal(buffer_append(&pieces, json_string_value(piece.text),
                                       json_string_length(piece.text), &err),
                         0);
        json_decref(piece.text);
    }
    text = capture_text(&capture, NULL);
    assert_int_equal(piece.offset + piece.length, length);
    assert_int_equal(buffer_length(&pieces), json_string_length(text));
    assert_memory_equal(buffer_bytes(&pieces), json_string_value(text), buffer_length(&pieces));
    buffer_deinit(&pieces);
    capture_deinit(&capture);
}

static void test_the_pieces_are_the_text_however_it_arrives(void **state)
{
    static const char written[] = "a\xE2\x82\xAC\xC3\xA4 bad \xFF\xE2\x82 then\xE2\x82\xAC"
                                  "\xF0\x9F\x90\x8D\xF0\x9F\x90\x8D cut \xF0\x9F";
    const size_t length = sizeof written - 1;

    (void)state;
    assert_true(length <= 40);
    for (size_t first = 0; first <= length; first++)
        for (size_t second = first; second <= length; second++)
            check_pieces_in_split(written, length, first, second);
}

/* Four-byte characters shifted by 0 to 3 bytes, so that the seams cut them everywhere. */
static void check_pieces_around_gap(size_t limit, size_t shift)
{
    struct capture_piece piece = {0};
    struct capture capture;
    struct buffer pieces;

    buffer_init(&pieces, 1024);
    capture_init(&capture, limit);
    capture_append(&capture, "abc", shift);
    for (int i = 0; i < 20; i++)
        capture_append(&capture, "\xF0\x9F\x90\x8D", 4);
    follow(&capture, &piece, &pieces);
    assert_true(piece.offset + piece.length <= capture.total);
    assert_in_range(buffer_length(&pieces), limit - 9, limit);
    assert_true(utf8_is_valid(buffer_bytes(&pieces), buffer_length(&pieces)));
    capture_append(&capture, "\nend", 4);
    follow(&capture, &piece, &pieces);
    assert_int_equal(piece.offset + piece.length, capture.total);
    buffer_deinit(&pieces);
    capture_deinit(&capture);
}

static void test_a_piece_behind_a_gap_begins_and_ends_with_whole_characters(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 4; shift++)
        for (size_t limit = 16; limit < 60; limit++)
            check_pieces_around_gap(limit, shift);
}

static void test_a_reader_that_comes_late_sees_from_the_offset_what_it_missed(void **state)
{
    struct capture_piece piece = {0};
    struct capture capture;

    (void)state;
    capture_init(&capture, 16);
    capture_append(&capture, "0123456789", 10);
    assert_true(capture_next_piece(&capture, &piece));
    assert_string_equal(json_string_value(piece.text), "0123456789");
    json_decref(piece.text);
    capture_append(&capture, "abcdefghijklmnopqrst", 20);
    assert_true(capture_next_piece(&capture, &piece));
    assert_int_equal(piece.offset, 10);
    assert_string_equal(json_string_value(piece.text), "ab");
    json_decref(piece.text);
    assert_true(capture_next_piece(&capture, &piece));
    assert_int_equal(piece.offset, 26);
    assert_string_equal(json_string_value(piece.text), "qrst");
    json_decref(piece.text);
    assert_false(capture_next_piece(&capture, &piece));
    assert_int_equal(piece.offset + piece.length, 30);
    capture_deinit(&capture);
}

static void test_a_piece_that_is_costly_in_json_is_shorter(void **state)
{
    enum { WRITTEN = 64 * 1024 };
    static char controls[WRITTEN];
    struct capture_piece piece = {0};
    struct capture capture;
    struct buffer pieces;

    (void)state;
    memset(controls, 1, sizeof controls);
    buffer_init(&pieces, WRITTEN);
    capture_init(&capture, 1 << 20);
    capture_append(&capture, controls, sizeof controls);
    follow(&capture, &piece, &pieces);
    assert_int_equal(buffer_length(&pieces), WRITTEN);
    buffer_deinit(&pieces);
    capture_deinit(&capture);
}

static void test_text_that_is_costly_in_json_is_cut(void **state)
{
    enum { LIMIT = 64 * 1024 };
    static char controls[LIMIT];
    struct capture capture;
    AUTO_JSON json_t *text = NULL;
    AUTO_FREE char *json = NULL;
    bool truncated = false;

    (void)state;
    memset(controls, 1, sizeof controls);
    memcpy(controls, "head", 4);
    memcpy(controls + LIMIT - 4, "tail", 4);
    capture_init(&capture, LIMIT);
    capture_append(&capture, controls, LIMIT);
    text = capture_text(&capture, &truncated);
    json = json_text(text);
    assert_true(truncated);
    assert_true(strlen(json) < 2 * LIMIT + 8192);
    assert_true(strlen(json) > LIMIT);
    assert_memory_equal(json_string_value(text), "head", 4);
    assert_string_equal(json_string_value(text) + json_string_length(text) - 4, "tail");
    assert_non_null(strstr(json_string_value(text), " bytes left out] ..."));
    capture_deinit(&capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_head_and_tail_however_it_arrives),
        cmocka_unit_test(test_every_length_around_every_small_limit),
        cmocka_unit_test(test_ten_mebibytes_without_newline_are_counted_and_bounded),
        cmocka_unit_test(test_characters_are_never_cut),
        cmocka_unit_test(test_a_deinitialised_capture_is_empty_and_may_be_deinitialised_again),
        cmocka_unit_test(test_last_line_is_the_newest_that_is_not_blank),
        cmocka_unit_test(test_last_line_comes_from_the_tail_and_spans_the_seam),
        cmocka_unit_test(test_last_line_of_an_endless_line_is_its_end),
        cmocka_unit_test(test_the_pieces_are_the_text_however_it_arrives),
        cmocka_unit_test(test_a_piece_behind_a_gap_begins_and_ends_with_whole_characters),
        cmocka_unit_test(test_a_reader_that_comes_late_sees_from_the_offset_what_it_missed),
        cmocka_unit_test(test_a_piece_that_is_costly_in_json_is_shorter),
        cmocka_unit_test(test_text_that_is_costly_in_json_is_cut),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
