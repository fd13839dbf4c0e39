#include "server/tools/answer/run_result_text.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/tools/answer/run_output.h"
#include "server/tools/hints/run_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Borrows STRING. */
static struct run_output_stream stream_of(const json_t *string)
{
    return (struct run_output_stream){.text = (char *)json_string_value(string),
                                      .length = json_string_length(string)};
}

/* The text of a result that succeeded, with the members of CHANGES put over it. */
static json_t *text_of(const char *changes)
{
    AUTO_JSON json_t *result =
        json_pack("{s:b, s:i, s:s, s:s, s:[], s:[], s:b}", "success", 1, "returncode", 0, "stdout",
                  "", "stderr", "", "hints", "files", "files_complete", 1);
    AUTO_JSON json_t *over = json_loads(changes, JSON_ALLOW_NUL, NULL);
    const struct capture streams[PROCESS_STREAMS] = {0};
    struct run_report report = {.streams = streams};
    struct run_facts facts = {.report = &report};
    struct run_output output = {0};

    assert_non_null(over);
    json_object_update(result, over);
    report.files_are_complete = json_is_true(json_object_get(result, "files_complete"));
    facts.has_returncode = json_is_integer(json_object_get(result, "returncode"));
    facts.returncode = (int)json_integer_value(json_object_get(result, "returncode"));
    facts.is_success = json_is_true(json_object_get(result, "success"));
    facts.error = (char *)json_object_get_string(result, "error");
    facts.files = json_object_get(result, "files");
    output.streams[PROCESS_STDOUT] = stream_of(json_object_get(result, "stdout"));
    output.streams[PROCESS_STDERR] = stream_of(json_object_get(result, "stderr"));
    return run_result_text(&facts, &output, json_object_get(result, "hints"),
                           json_object_get_string(over, "handle"),
                           json_object_get_string(over, "path"));
}

static void test_text_is_in_the_form_that_models_know(void **state)
{
    static const struct {
        const char *changes;
        const char *text;
    } cases[] = {
        {"{\"stdout\":\"hello\\n\"}", "exitcode: 0 (execution succeeded)\nCode output: hello\n"},
        {"{\"success\":false,\"returncode\":1,\"stdout\":\"a\",\"stderr\":\"Traceback\\n\"}",
         "exitcode: 1 (execution failed)\nCode output: a\nError output:\nTraceback\n"},
        {"{\"stderr\":\"warning\"}",
         "exitcode: 0 (execution succeeded)\nCode output: \nError output:\nwarning"},
        {"{\"success\":false,\"returncode\":null,\"error\":\"cannot execute python3\"}",
         "The run failed: cannot execute python3.\n"},
        {"{}", "exitcode: 0 (execution succeeded)\nCode output: (none: the script printed nothing; "
               "print() what you want to see)"},
        {"{\"success\":false,\"returncode\":7}",
         "exitcode: 7 (execution failed)\nCode output: (none: the script printed nothing; "
         "print() what you want to see)"},
        {"{\"success\":false,\"returncode\":-9,\"stdout\":\"1\\n2\\n\",\"error\":\"timed out\"}",
         "The script timed out.\nexitcode: -9 (execution failed)\nCode output: 1\n2\n"},
        {"{\"stdout\":\"x\",\"hints\":[\"Print it.\",\"Name it.\"]}",
         "exitcode: 0 (execution succeeded)\nCode output: x\nPrint it.\nName it.\n"},
        {"{\"stdout\":\"x\",\"files\":[{\"path\":\"a.csv\",\"size\":1024},"
         "{\"path\":\"d/b\",\"size\":1}]}",
         "exitcode: 0 (execution succeeded)\nCode output: x\nFiles created or changed: a.csv (1 "
         "KiB), d/b (1 byte)"},
        {"{\"stdout\":\"x\",\"files\":[{\"path\":\"a\",\"size\":2}],\"files_complete\":false}",
         "exitcode: 0 (execution succeeded)\nCode output: x\nFiles created or changed: a (2 "
         "bytes)\n"
         "More files may have changed: not all could be listed. Look for those you need with a "
         "script."},
        {"{\"stdout\":\"x\",\"files\":[{\"path\":\"a\",\"size\":2}],\"handle\":\"0f3a\"}",
         "exitcode: 0 (execution succeeded)\nCode output: x\nFiles created or changed: a (2 "
         "bytes)\n"
         "To go on with these files, pass working_directory: \"0f3a\".\n"},
        {"{\"stdout\":\"x\",\"files\":[{\"path\":\"a\",\"size\":2}],\"path\":\"/var/work/0f3a\"}",
         "exitcode: 0 (execution succeeded)\nCode output: x\nFiles created or changed in "
         "/var/work/0f3a, not in the project: a (2 bytes)"},
        {"{\"stdout\":\"x\",\"path\":\"/var/work/0f3a\"}",
         "exitcode: 0 (execution succeeded)\nCode output: x"},
        {"{\"stdout\":\"x\",\"files\":[{\"path\":\"a\\nThe script\\u001b[1m\",\"size\":1}]}",
         "exitcode: 0 (execution succeeded)\nCode output: x\nFiles created or changed: "
         "a<U+000A>The script<U+001B>[1m (1 byte)"},
        {"{\"stdout\":\"x\",\"files_complete\":true}",
         "exitcode: 0 (execution succeeded)\nCode output: x"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *text = text_of(cases[i].changes);

        assert_string_equal(json_string_value(text), cases[i].text);
    }
}

static void test_text_keeps_nul_characters(void **state)
{
    static const char expected[] = "exitcode: 0 (execution succeeded)\nCode output: a\0b";
    AUTO_JSON json_t *text = text_of("{\"stdout\":\"a\\u0000b\"}");

    (void)state;
    assert_int_equal(json_string_length(text), sizeof expected - 1);
    assert_memory_equal(json_string_value(text), expected, sizeof expected);
}

static void test_text_names_a_bounded_number_of_files(void **state)
{
    AUTO_JSON json_t *changes = json_pack("{s:s, s:[]}", "stdout", "x", "files");
    AUTO_FREE char *written = NULL;
    AUTO_JSON json_t *text = NULL;

    (void)state;
    for (int i = 0; i < 30; i++)
        json_array_append_new(
            json_object_get(changes, "files"),
            json_pack("{s:o, s:i}", "path", json_string_format("file-%d", i), "size", 1));
    written = json_text(changes);
    text = text_of(written);
    assert_non_null(strstr(json_string_value(text), "file-19 (1 byte), ..."));
    assert_null(strstr(json_string_value(text), "file-20"));
}

static void test_text_shows_the_beginning_of_a_long_name(void **state)
{
    AUTO_FREE char *path = memory_format("%04000d", 0);
    AUTO_JSON json_t *changes =
        json_pack("{s:s, s:[{s:s, s:i}]}", "stdout", "x", "files", "path", path, "size", 1);
    AUTO_FREE char *written = json_text(changes);
    AUTO_JSON json_t *text = text_of(written);

    (void)state;
    assert_non_null(strstr(json_string_value(text), "0... (4000 bytes in all) (1 byte)"));
    assert_true(json_string_length(text) < 400);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_in_the_form_that_models_know),
        cmocka_unit_test(test_text_keeps_nul_characters),
        cmocka_unit_test(test_text_names_a_bounded_number_of_files),
        cmocka_unit_test(test_text_shows_the_beginning_of_a_long_name),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
