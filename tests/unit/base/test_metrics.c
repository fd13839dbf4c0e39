#include "base/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { LARGE = 1 << 20 };

static struct buffer write_all(void)
{
    struct buffer buffer;
    struct error err = ERROR_INIT;

    buffer_init(&buffer, LARGE);
    assert_int_equal(metrics_write(&buffer, &err), 0);
    assert_int_equal(buffer_append(&buffer, "", 1, &err), 0);
    return buffer;
}

static void assert_written(const char *text)
{
    struct buffer buffer = write_all();

    if (!strstr(buffer_bytes(&buffer), text))
        fail_msg("%s\nis not in\n%s", text, buffer_bytes(&buffer));
    buffer_deinit(&buffer);
}

static void test_what_is_counted_has_a_line_for_its_labels(void **state)
{
    (void)state;
    metrics_count(METRIC_RUNS, "system", "success");
    metrics_count(METRIC_RUNS, "system", "success");
    metrics_count(METRIC_RUNS, "system", "timeout");
    assert_int_equal(metrics_read(METRIC_RUNS, "system", "success"), 2);
    assert_int_equal(metrics_read(METRIC_RUNS, "venv", "success"), 0);
    assert_written("# HELP pyexecd_runs_total Runs of scripts that have ended.\n"
                   "# TYPE pyexecd_runs_total counter\n"
                   "pyexecd_runs_total{environment=\"system\",outcome=\"success\"} 2\n"
                   "pyexecd_runs_total{environment=\"system\",outcome=\"timeout\"} 1\n#");
}

static void test_what_was_never_counted_is_described(void **state)
{
    (void)state;
    assert_written("# TYPE pyexecd_reloads_total counter\n");
}

static void test_a_histogram_counts_what_is_below_each_bound(void **state)
{
    (void)state;
    metrics_observe(METRIC_QUEUE_SECONDS, "system", 0);
    metrics_observe(METRIC_QUEUE_SECONDS, "system", 0.01);
    metrics_observe(METRIC_QUEUE_SECONDS, "system", 0.75);
    metrics_observe(METRIC_QUEUE_SECONDS, "system", 1000);
    assert_written("# TYPE pyexecd_run_queue_wait_seconds histogram\n"
                   "pyexecd_run_queue_wait_seconds_bucket{environment=\"system\",le=\"0.001\"} 1\n"
                   "pyexecd_run_queue_wait_seconds_bucket{environment=\"system\",le=\"0.005\"} 1\n"
                   "pyexecd_run_queue_wait_seconds_bucket{environment=\"system\",le=\"0.01\"} 2\n");
    assert_written("le=\"0.5\"} 2\n"
                   "pyexecd_run_queue_wait_seconds_bucket{environment=\"system\",le=\"1\"} 3\n");
    assert_written("le=\"300\"} 3\n"
                   "pyexecd_run_queue_wait_seconds_bucket{environment=\"system\",le=\"+Inf\"} 4\n"
                   "pyexecd_run_queue_wait_seconds_sum{environment=\"system\"} 1000.760000\n"
                   "pyexecd_run_queue_wait_seconds_count{environment=\"system\"} 4\n");
}

static void test_labels_are_escaped(void **state)
{
    (void)state;
    metrics_count(METRIC_REFUSALS, "a\"b\\c\nd", NULL);
    assert_written("pyexecd_requests_refused_total{reason=\"a\\\"b\\\\c\\nd\"} 1\n");
}

static void test_names_that_come_from_outside_end_somewhere(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * METRICS_SERIES; i++) {
        char name[16];

        snprintf(name, sizeof name, "tool%d", i);
        metrics_count(METRIC_TOOL_CALLS, name, "success");
    }
    assert_int_equal(metrics_read(METRIC_TOOL_CALLS, "tool0", "success"), 1);
    assert_int_equal(metrics_read(METRIC_TOOL_CALLS, "tool1535", "success"), 0);
    assert_int_equal(metrics_read(METRIC_TOOL_CALLS, "other", "other"), 2 * METRICS_SERIES + 1);
}

static void test_a_gauge_is_one_value(void **state)
{
    struct buffer buffer;
    struct error err = ERROR_INIT;

    (void)state;
    buffer_init(&buffer, LARGE);
    assert_int_equal(metrics_write_gauge(&buffer, "a", "An a.", "", 2.5, &err), 0);
    assert_int_equal(metrics_write_gauge(&buffer, "b", "A b.", "c=\"d\"", 12345678901., &err), 0);
    assert_int_equal(buffer_append(&buffer, "", 1, &err), 0);
    assert_string_equal(buffer_bytes(&buffer), "# HELP a An a.\n# TYPE a gauge\na 2.5\n"
                                               "# HELP b A b.\n# TYPE b gauge\n"
                                               "b{c=\"d\"} 12345678901\n");
    buffer_deinit(&buffer);
}

static void test_a_full_buffer_is_an_error(void **state)
{
    struct buffer buffer;
    struct error err = ERROR_INIT;

    (void)state;
    buffer_init(&buffer, 200);
    assert_int_equal(metrics_write(&buffer, &err), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    buffer_deinit(&buffer);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_counted_has_a_line_for_its_labels),
        cmocka_unit_test(test_what_was_never_counted_is_described),
        cmocka_unit_test(test_a_histogram_counts_what_is_below_each_bound),
        cmocka_unit_test(test_labels_are_escaped),
        cmocka_unit_test(test_names_that_come_from_outside_end_somewhere),
        cmocka_unit_test(test_a_gauge_is_one_value),
        cmocka_unit_test(test_a_full_buffer_is_an_error),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
