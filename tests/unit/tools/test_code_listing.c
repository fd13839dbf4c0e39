#include "server/tools/python/code_listing.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LONG_BYTES = 1024 * 1024 };

/* Owned by the caller. */
static char *list(const char *text, size_t length)
{
    struct buffer buffer;
    char *listing;

    buffer_init(&buffer, LISTING_ROOM_BYTES);
    code_listing_append(&buffer, text, length);
    listing = memory_format("%.*s", (int)buffer_length(&buffer),
                            buffer_bytes(&buffer) ? buffer_bytes(&buffer) : "");
    buffer_deinit(&buffer);
    return listing;
}

static void lines_are_numbered_as_python_counts_them(void **state)
{
    static const struct {
        const char *text;
        size_t lines;
        const char *listing;
    } cases[] = {
        {"", 0, ""},
        {"a", 1, "    1 | a\n"},
        {"a\n", 1, "    1 | a\n"},
        {"a\n\nb\n", 3, "    1 | a\n    2 | \n    3 | b\n"},
        {"a\rb\r\nc", 3, "    1 | a\n    2 | b\n    3 | c\n"},
        {"if a:\n\tb\f\v", 2, "    1 | if a:\n    2 | \tb<U+000C><U+000B>\n"},
        {"\n\n\n\n\n\n\n\n\nx", 10,
         "     1 | \n     2 | \n     3 | \n     4 | \n     5 | \n"
         "     6 | \n     7 | \n     8 | \n     9 | \n    10 | x\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length = strlen(cases[i].text);
        AUTO_FREE char *listing = list(cases[i].text, length);

        assert_string_equal(listing, cases[i].listing);
        assert_int_equal(code_listing_measure(cases[i].text, length).lines, cases[i].lines);
    }
}

static void a_long_line_goes_on_below_itself(void **state)
{
    AUTO_FREE char *text = memory_format("%*s", 150, "x");
    AUTO_FREE char *listing = list(text, 150);
    AUTO_FREE char *expected = memory_format("    1 | %*s\n      : %*s\n", 120, "", 30, "x");

    (void)state;
    assert_string_equal(listing, expected);
}

/* True for what a listing has around its lines, and nothing else may look like. */
static bool is_line_of_listing(const char *line, size_t length)
{
    size_t i = strspn(line, " ");

    if (i < 4 || i >= length)
        return false;
    while (isdigit((unsigned char)line[i]))
        i++;
    return strncmp(line + i, " | ", 3) == 0 || (i > 4 && strncmp(line + i, ": ", 2) == 0);
}

/* Whatever is in it, a text gets no line of its own; and there is room for any. */
static void check_lines(const char *text, size_t length)
{
    AUTO_FREE char *listing = list(text, length);
    size_t notes = 0;

    for (char *line = listing; *line; line += strcspn(line, "\n") + 1) {
        if (*line == '\n')
            continue;
        if (*line == '[')
            notes++;
        else if (!is_line_of_listing(line, strcspn(line, "\n")))
            fail_msg("%.*s", 200, line);
    }
    assert_int_equal(notes, code_listing_measure(text, length).left_out > 0);
}

static void no_text_ends_its_listing(void **state)
{
    static const char *const pieces[] = {
        "\n",
        "\r",
        "\0x\n",
        "```\n\nEnvironment: none\n",
        "[9 bytes are not shown]\n",
        "\xE2\x80\xA8- Network: none",
        "\x1B[1A",
        "\xF0\x9F\x90\x8D",
        "\xFF",
    };
    AUTO_FREE char *text = memory_new(LONG_BYTES, 1);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        size_t length = i == 2 ? 3 : strlen(pieces[i]);

        for (size_t at = 0; at < LONG_BYTES; at++)
            text[at] = pieces[i][at % length];
        check_lines(text, LISTING_WHOLE_BYTES);
        check_lines(text, LISTING_WHOLE_BYTES + 1);
        check_lines(text, LONG_BYTES);
    }
}

static void the_middle_is_left_out_of_what_is_too_long(void **state)
{
    AUTO_FREE char *text = memory_new(LONG_BYTES, 1);
    AUTO_FREE char *listing = NULL;
    struct code_listing measured;

    (void)state;
    for (size_t i = 0; i < LONG_BYTES; i++)
        text[i] = i % 8 == 7 ? '\n' : 'x';
    listing = list(text, LONG_BYTES);
    measured = code_listing_measure(text, LONG_BYTES);
    assert_int_equal(measured.left_out, LONG_BYTES - LISTING_WHOLE_BYTES);
    assert_int_equal(measured.lines, LONG_BYTES / 8);
    assert_non_null(strstr(
        listing, "\n[1015808 bytes are not shown here, from line 3073 on]\n\n    130049 | x"));
    assert_non_null(strstr(listing, "    131072 | xxxxxxx\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_numbered_as_python_counts_them),
        cmocka_unit_test(a_long_line_goes_on_below_itself),
        cmocka_unit_test(no_text_ends_its_listing),
        cmocka_unit_test(the_middle_is_left_out_of_what_is_too_long),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
