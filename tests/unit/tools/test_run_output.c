#include "server/tools/answer/run_output.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/hints/run_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* LINES numbered lines, then LAST. Owned by the caller. */
static char *numbered(int lines, const char *last)
{
    char *text = memory_new((size_t)lines * 8 + strlen(last) + 1, 1);
    char *end = text;

    for (int i = 0; i < lines; i++)
        end += sprintf(end, "%d\n", i);
    strcpy(end, last);
    return text;
}

/* What OUT and ERR are shown as, for the caller to deinit. */
static struct run_output shown(const char *out, const char *err)
{
    AUTO_JSON json_t *streams = json_pack("[s, s]", out, err);
    const struct run_facts facts = {
        .streams = {json_array_get(streams, 0), json_array_get(streams, 1)}};
    struct run_output output;

    run_output_init(&output, &facts, "/d", RUN_OUTPUT_CHARACTERS);
    return output;
}

static void assert_shows(const struct run_output_stream *stream, const char *text)
{
    assert_int_equal(stream->length, strlen(text));
    assert_memory_equal(stream->text, text, stream->length);
}

static void assert_ends(const struct run_output_stream *stream, const char *text)
{
    assert_true(stream->length >= strlen(text));
    assert_memory_equal(stream->text + stream->length - strlen(text), text, strlen(text));
}

static void test_a_short_output_is_as_it_was_printed(void **state)
{
    AUTO(run_output_deinit)
    struct run_output output = shown("42\n", "  File \"/d/script.py\", line 1\n");

    (void)state;
    assert_shows(&output.streams[PROCESS_STDOUT], "42\n");
    assert_shows(&output.streams[PROCESS_STDERR], "  File \"script.py\", line 1\n");
    assert_false(output.streams[PROCESS_STDOUT].is_cut);
}

static void test_both_streams_are_shown_within_what_a_model_can_read(void **state)
{
    AUTO_FREE char *out = numbered(20000, "the result\n");
    AUTO_FREE char *err = numbered(20000, "KeyError: 'plum'\n");
    AUTO(run_output_deinit) struct run_output output = shown(out, err);

    (void)state;
    assert_true(output.streams[PROCESS_STDOUT].is_cut);
    assert_true(output.streams[PROCESS_STDERR].is_cut);
    assert_in_range(output.streams[0].length + output.streams[1].length, 17000, 19000);
    assert_ends(&output.streams[PROCESS_STDOUT], "\n19999\nthe result\n");
    assert_ends(&output.streams[PROCESS_STDERR], "\n19999\nKeyError: 'plum'\n");
}

/* ROW, COUNT times. Owned by the caller. */
static char *returned(const char *row, int count)
{
    char *text = memory_new((size_t)count * (strlen(row) + 8) + 1, 1);
    char *end = text;

    for (int i = 0; i < count; i++)
        end += sprintf(end, "%s%d\r", row, i);
    return text;
}

static void test_a_line_that_lacks_states_is_not_whole(void **state)
{
    AUTO_FREE char *rows = returned("row ", 1000);
    AUTO_FREE char *bar = returned("10 % ", 1000);
    AUTO(run_output_deinit) struct run_output some = shown("name\rqty\r", "");
    AUTO(run_output_deinit) struct run_output many = shown(rows, bar);

    (void)state;
    assert_shows(&some.streams[PROCESS_STDOUT], "name\nqty");
    assert_int_equal(some.streams[PROCESS_STDOUT].untold, 0);
    assert_shows(&many.streams[PROCESS_STDOUT],
                 "... [999 earlier states of this line left out] ...\nrow 999");
    assert_true(many.streams[PROCESS_STDOUT].untold > 0);
    assert_shows(&many.streams[PROCESS_STDERR],
                 "... [999 earlier states of this line left out] ...\n10 % 999");
    assert_int_equal(many.streams[PROCESS_STDERR].untold, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_short_output_is_as_it_was_printed),
        cmocka_unit_test(test_both_streams_are_shown_within_what_a_model_can_read),
        cmocka_unit_test(test_a_line_that_lacks_states_is_not_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
