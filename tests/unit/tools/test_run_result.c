#include "server/tools/answer/run_result.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/tools/hints/run_facts.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct fixture {
    struct environment environment;
    struct capture streams[PROCESS_STREAMS];
    struct run_report report;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    fixture->environment.name = (char *)"here";
    fixture->environment.settings.limits.memory = 512 << 20;
    fixture->environment.settings.disk = 1 << 30;
    for (int i = 0; i < PROCESS_STREAMS; i++)
        capture_init(&fixture->streams[i], 1024);
    fixture->report = (struct run_report){
        .end = RUN_ENDED,
        .execution = {.peak_memory = 9000000},
        .streams = fixture->streams,
    };
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < PROCESS_STREAMS; i++)
        capture_deinit(&fixture->streams[i]);
    free(fixture);
    return 0;
}

static json_t *structured(struct fixture *fixture)
{
    const struct run_setting setting = {.environment = &fixture->environment, .timeout = 5};
    struct run_facts facts;
    json_t *result;

    run_facts_init(&facts, &fixture->report, &setting);
    result = run_result_structured(&facts);
    run_facts_deinit(&facts);
    return result;
}

static void test_each_end_is_told_in_the_fields_made_for_it(void **state)
{
    static const struct {
        enum run_end end;
        struct process_end execution;
        bool success;
        const char *returncode;
        const char *signal;
        const char *error;
    } cases[] = {
        {RUN_ENDED, {.returncode = 0}, true, "0", NULL, NULL},
        {RUN_ENDED, {.returncode = 3}, false, "3", NULL, NULL},
        {RUN_ENDED, {.returncode = -SIGSEGV}, false, "-11", "SIGSEGV", "was killed by SIGSEGV"},
        {RUN_ENDED, {.returncode = -SIGKILL}, false, "-9", "SIGKILL", "was killed by SIGKILL"},
        {RUN_ENDED,
         {.returncode = -SIGKILL, .out_of_memory = true},
         false,
         "-9",
         "SIGKILL",
         "was killed because it used more memory than the limit of 512 MiB"},
        {RUN_ENDED, {.out_of_memory = true}, true, "0", NULL, NULL},
        {RUN_TIMED_OUT,
         {.returncode = -SIGKILL},
         false,
         "-9",
         "SIGKILL",
         "timed out after 5 seconds and was ended, with all that it had started"},
        /* It ended by itself, at the last moment. */
        {RUN_TIMED_OUT,
         {.returncode = 0},
         false,
         "0",
         NULL,
         "timed out after 5 seconds and was ended, with all that it had started"},
        {RUN_DISK_LIMIT,
         {.returncode = -SIGKILL},
         false,
         "-9",
         "SIGKILL",
         "was killed because its files grew beyond the limit of 1 GiB"},
        {RUN_ENDED,
         {.survivors = true},
         false,
         "0",
         NULL,
         "left processes behind that cannot be ended: containment failed"},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *result = NULL;
        AUTO_FREE char *returncode = NULL;
        const char *signal;
        const char *error;

        fixture->report.end = cases[i].end;
        fixture->report.execution = cases[i].execution;
        result = structured(fixture);
        returncode = json_text(json_object_get(result, "returncode"));
        signal = json_object_get_string(result, "signal");
        error = json_object_get_string(result, "error");
        assert_int_equal(json_is_true(json_object_get(result, "success")), cases[i].success);
        assert_string_equal(returncode, cases[i].returncode);
        assert_string_equal(signal ? signal : "", cases[i].signal ? cases[i].signal : "");
        assert_string_equal(error ? error : "", cases[i].error ? cases[i].error : "");
        assert_int_equal(json_is_true(json_object_get(result, "timed_out")),
                         cases[i].end == RUN_TIMED_OUT);
    }
}

static void test_a_share_that_is_used_up_is_the_reason_where_it_was_the_limit(void **state)
{
    struct fixture *fixture = *state;
    AUTO_JSON json_t *result = NULL;

    fixture->report.end = RUN_DISK_LIMIT;
    fixture->report.share = disk_share_of(5 << 20, 3 << 20);
    result = structured(fixture);
    assert_string_equal(json_object_get_string(result, "error"),
                        "was killed because its files grew by more than 1 MiB: your working "
                        "directories take 5 MiB, more than the 3 MiB that are free on their disk. "
                        "Until you have removed files, or old directories are removed, no run may "
                        "add more");
}

static void test_a_script_that_never_ran_has_no_return_code(void **state)
{
    struct fixture *fixture = *state;
    AUTO_JSON json_t *result = NULL;

    fixture->report.end = RUN_FAILED;
    error_set(&fixture->report.error, ERROR_UNAVAILABLE, "cannot execute /nowhere/python3");
    result = structured(fixture);
    assert_true(json_is_null(json_object_get(result, "returncode")));
    assert_true(json_is_null(json_object_get(result, "signal")));
    assert_string_equal(json_object_get_string(result, "error"), "cannot execute /nowhere/python3");
}

static void test_cost_is_in_seconds_and_bytes(void **state)
{
    struct fixture *fixture = *state;
    AUTO_JSON json_t *result = NULL;
    AUTO_FREE char *timings = NULL;
    AUTO_FREE char *usage = NULL;

    fixture->report.prepare_seconds = 0.0123456789;
    fixture->report.wait_seconds = -1e-9; /* clocks */
    fixture->report.execution.run_seconds = 2;
    fixture->report.execution.cpu_seconds = 0.25;
    result = structured(fixture);
    timings = json_text(json_object_get(result, "timings"));
    usage = json_text(json_object_get(result, "usage"));
    assert_string_equal(timings, "{\"prepare\":0.012346,\"wait\":0.0,\"start\":0.0,\"run\":2.0,"
                                 "\"warm\":false,\"ahead\":0.0}");
    assert_string_equal(usage, "{\"cpu_seconds\":0.25,\"peak_memory_bytes\":9000000}");
}

static void test_what_was_really_written_is_counted(void **state)
{
    struct fixture *fixture = *state;
    char line[100];
    AUTO_JSON json_t *result = NULL;

    memset(line, 'x', sizeof line);
    for (int i = 0; i < 50; i++)
        capture_append(&fixture->streams[PROCESS_STDOUT], line, sizeof line);
    capture_append(&fixture->streams[PROCESS_STDERR], "\xff", 1);
    result = structured(fixture);
    assert_true(json_is_true(json_object_get(result, "truncated")));
    assert_int_equal(json_integer_value(json_object_get(result, "stdout_bytes")), 5000);
    assert_int_equal(json_integer_value(json_object_get(result, "stderr_bytes")), 1);
    assert_string_equal(json_object_get_string(result, "stderr"), "\xEF\xBF\xBD");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_end_is_told_in_the_fields_made_for_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_share_that_is_used_up_is_the_reason_where_it_was_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_script_that_never_ran_has_no_return_code, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_cost_is_in_seconds_and_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_was_really_written_is_counted, set_up, tear_down),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
