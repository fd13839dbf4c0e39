/* The id of an answer that was too long is found where servers write it. */
#include "toolbox/line_ends.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { MIDDLE_BYTES = 1000 };

static void test_an_id_is_found_at_either_end(void **state)
{
    static const struct {
        const char *head;
        const char *tail;
        unsigned id;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":12,\"result\":{", "}}", 12},
        {"{\"jsonrpc\": \"2.0\", \"id\": 12, \"result\": {", "}}\n", 12},
        {"{\"result\":{\"id\":5,", "},\"jsonrpc\":\"2.0\",\"id\":34}\r\n", 34},
        {"{\"result\":{\"id\":5,", "},\"id\":34,\"jsonrpc\":\"2.0\"}", 34},
        {"{\"jsonrpc\":\"2.0\",\"id\":12,\"error\":{", "}}", 12},
        {"{\"jsonrpc\" : \"2.0\", \"id\" : 12, \"error\" : {", "}}", 12},
        {"{\"error\":{\"id\":5,", "},\"jsonrpc\":\"2.0\",\"id\":34}\n", 34},
        {"{\"level\":\"error\",\"id\":5,\"text\":\"", "\"}", 0},
        {"{\"id\":5,\"method\":\"x\",\"params\":{\"error\":", "}}", 0},
        {"{\"result\":{\"id\":5,", "\"id\":6}}", 0},
        {"{\"id\":\"text\",\"result\":{", "}}", 0},
        {"{\"method\":\"x\",\"id\":7,\"params\":{", "}}", 0},
        {"{\"id\":1234567890123,\"result\":{", "}}", 0},
        {"", "", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t piece = 1; piece < 400; piece += 7) {
            struct line_ends line = {0};
            char text[MIDDLE_BYTES + 200];
            size_t length = strlen(cases[i].head);

            memcpy(text, cases[i].head, length);
            memset(text + length, 'x', MIDDLE_BYTES);
            length += MIDDLE_BYTES;
            memcpy(text + length, cases[i].tail, strlen(cases[i].tail));
            length += strlen(cases[i].tail);
            for (size_t at = 0; at < length; at += piece)
                line_ends_add(&line, text + at, size_min(piece, length - at));
            assert_int_equal(line_ends_find_id(&line), cases[i].id);
            assert_int_equal(line.length, length);
        }
}

static void test_what_programs_print_is_told_from_answers(void **state)
{
    static const struct {
        const char *text;
        bool is_answer;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":NaN}}", true},
        {"{\"result\": Infinity, \"id\": 1}", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"message\":\"it\\'s\"}}", true},
        {" \t{\"jsonrpc\" : \"2.0\", \"id\" : 1, \"result\" : NaN}", true},
        {"{\"level\":\"error\",\"id\":1,}", false},
        {"DEBUG sends {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", false},
        {"{\"method\":\"x\",\"params\":{\"n\":NaN},\"id\":1}", false},
        {"{\"id\":1,\"method\":\"x\",\"params\":{\"error\":NaN}}", false},
        {"{\"id\":1,\"result\":{\"method\":NaN}}", true},
        {"{\"res", false},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct line_ends line = {0};

        line_ends_add(&line, cases[i].text, strlen(cases[i].text));
        assert_int_equal(line_ends_are_of_answer(&line), cases[i].is_answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_id_is_found_at_either_end),
        cmocka_unit_test(test_what_programs_print_is_told_from_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
