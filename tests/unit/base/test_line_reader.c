#include "base/line_reader.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LIMIT = 10 };

/* What came out, each line as "<line>", a dropped one as "!". */
struct transcript {
    char text[512];
    size_t length;
};

static void note(struct transcript *transcript, const char *text, size_t length)
{
    assert_true(transcript->length + length < sizeof(transcript->text));
    memcpy(transcript->text + transcript->length, text, length);
    transcript->length += length;
    transcript->text[transcript->length] = '\0';
}

static void take_all(struct line_reader *reader, struct transcript *transcript)
{
    char *line;
    size_t length;

    for (;;) {
        switch (line_reader_next(reader, &line, &length)) {
        case LINE_NONE:
            return;
        case LINE_COMPLETE:
            note(transcript, "<", 1);
            note(transcript, line, length);
            note(transcript, ">", 1);
            memset(line, 'X', length); /* a receiver may change it */
            break;
        case LINE_TOO_LONG:
            note(transcript, "!", 1);
            break;
        }
    }
}

static void feed(struct line_reader *reader, const char *bytes, size_t length)
{
    memcpy(line_reader_reserve(reader), bytes, length);
    line_reader_commit(reader, length);
}

static const struct {
    const char *input;
    const char *lines;        /* while more may come */
    const char *lines_at_end; /* after that */
} cases[] = {
    {"", "", ""},
    {"a\n", "<a>", ""},
    {"a\r\n", "<a>", ""},
    {"a", "", "<a>"},
    {"a\r", "", "<a>"},
    {"a\nb\nc", "<a><b>", "<c>"},
    {"\n\r\n \t \n\t\r\na\n\n", "<a>", ""},
    {"  \t", "", ""},
    {"a\rb\n", "<a\rb>", ""},
    {"a\r\r\n", "<a\r>", ""},
    {" a \n", "< a >", ""},
    {"0123456789\n", "<0123456789>", ""},
    {"0123456789\r\n", "<0123456789>", ""},
    {"0123456789", "", "<0123456789>"},
    {"0123456789\r", "", "<0123456789>"},
    {"0123456789a\n", "!", ""},
    {"0123456789a\r\n", "!", ""},
    {"0123456789\ra\n", "!", ""},
    {"0123456789a", "", "!"},
    {"0123456789abcdefghijklmnopqrstuvwxyz", "", "!"},
    {"0123456789abcdefghijklmnopqrstuvwxyz\nb\n", "!<b>", ""},
    {"a\n0123456789abcdefghijklmnopqrstuvwxyz\n\nb", "<a>!", "<b>"},
    {"                   \nb\n", "!<b>", ""},
};

/* The input in pieces of SIZE bytes, the first one of FIRST. */
static void check_pieces(size_t index, size_t first, size_t size)
{
    const char *input = cases[index].input;
    size_t length = strlen(input);
    struct transcript transcript = {0};
    struct line_reader reader;
    size_t piece = first;

    line_reader_init(&reader, LIMIT);
    for (size_t done = 0; done < length; done += piece, piece = size) {
        if (piece > length - done)
            piece = length - done;
        feed(&reader, input + done, piece);
        take_all(&reader, &transcript);
    }
    assert_string_equal(transcript.text, cases[index].lines);
    line_reader_end(&reader);
    transcript = (struct transcript){0};
    take_all(&reader, &transcript);
    assert_string_equal(transcript.text, cases[index].lines_at_end);
    line_reader_deinit(&reader);
}

static void test_every_split_gives_the_same_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length = strlen(cases[i].input);

        print_message("%zu\n", i);
        for (size_t first = 1; first <= length + 1; first++)
            check_pieces(i, first, length + 1);
        check_pieces(i, 1, 1);
        check_pieces(i, 3, 3);
    }
}

static void test_nul_bytes_are_bytes(void **state)
{
    struct line_reader reader;
    size_t length = 0;
    char *line = NULL;

    (void)state;
    line_reader_init(&reader, LIMIT);
    feed(&reader, "\0a\0\n", 4);
    assert_int_equal(line_reader_next(&reader, &line, &length), LINE_COMPLETE);
    assert_int_equal(length, 3);
    assert_memory_equal(line, "\0a", 3);
    line_reader_deinit(&reader);
}

static void test_a_long_line_is_dropped_in_constant_memory(void **state)
{
    enum { MEGABYTES = 100, LONGEST = 1024 * 1024 };
    struct transcript transcript = {0};
    struct line_reader reader;
    size_t largest = 0;

    (void)state;
    line_reader_init(&reader, LONGEST);
    for (size_t sent = 0; sent < (size_t)MEGABYTES * 1024 * 1024; sent += LINE_READER_ROOM) {
        memset(line_reader_reserve(&reader), 'x', LINE_READER_ROOM);
        line_reader_commit(&reader, LINE_READER_ROOM);
        take_all(&reader, &transcript);
        if (reader.buffer.capacity > largest)
            largest = reader.buffer.capacity;
    }
    assert_string_equal(transcript.text, "");
    assert_true(largest <= 2 * LONGEST);
    feed(&reader, "\nb\n", 3);
    take_all(&reader, &transcript);
    assert_string_equal(transcript.text, "!<b>");
    assert_true(reader.buffer.capacity <= 2 * LINE_READER_ROOM);
    line_reader_deinit(&reader);
}

/* A quadratic search would take minutes. */
static void test_a_line_in_single_bytes_is_searched_once(void **state)
{
    enum { LONGEST = 4 * 1024 * 1024 };
    struct line_reader reader;
    size_t length = 0;
    char *line;

    (void)state;
    line_reader_init(&reader, LONGEST);
    for (size_t i = 0; i < LONGEST; i++) {
        feed(&reader, "x", 1);
        assert_int_equal(line_reader_next(&reader, &line, &length), LINE_NONE);
    }
    feed(&reader, "\n", 1);
    assert_int_equal(line_reader_next(&reader, &line, &length), LINE_COMPLETE);
    assert_int_equal(length, LONGEST);
    line_reader_deinit(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_split_gives_the_same_lines),
        cmocka_unit_test(test_nul_bytes_are_bytes),
        cmocka_unit_test(test_a_long_line_is_dropped_in_constant_memory),
        cmocka_unit_test(test_a_line_in_single_bytes_is_searched_once),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
