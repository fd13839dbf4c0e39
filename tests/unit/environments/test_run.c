/* Runs of real scripts in the system's Python: how they go and how they end. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "environments/executor.h"
#include "tests/unit/environments/fixture.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_a_script_runs_and_everything_is_reported(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct call call;

    (void)state;
    call_execute(&call, fixture,
                 "import sys, os\n"
                 "print('hello', __name__, sys.argv[0] == __file__, os.getcwd())\n"
                 "print('oops', file=sys.stderr)\n"
                 "open('new.csv', 'w').write('a,b')\n"
                 "sys.exit(3)\n");
    AUTO_FREE char *expected =
        memory_format("hello __main__ True %s\n", working_directory_path(directory));
    AUTO_FREE char *script = memory_format("%s/script.py", working_directory_path(directory));

    assert_int_equal(call.end, RUN_ENDED);
    assert_int_equal(call.execution.returncode, 3);
    assert_string_equal(call.out, expected);
    assert_string_equal(call.err, "oops\n");
    assert_string_equal(call.script, script);
    assert_string_equal(call.working_directory, working_directory_handle(directory));
    assert_int_equal(strncmp(call.python_version, "3.", 2), 0);
    assert_true(call.outputs >= 2);
    assert_int_equal(json_array_size(call.files), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(call.files, 0), "path")),
                        "new.csv");
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

/* Limits */

static void execute_in(struct call *call, struct fixture *fixture, const char *definition,
                       struct run_request *request)
{
    char name[32];

    snprintf(name, sizeof name, "%p", (const void *)definition);
    request->environment = fixture_environment(fixture, name, definition);
    call_execute_as(call, fixture, request);
}

static void test_a_timeout_keeps_what_was_printed_and_written(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct run_request request = {
        .timeout = 5,
        .code = "import signal, subprocess, time\n"
                "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                "print('so far', flush=True)\n"
                "open('half.txt', 'w').write('x')\n"
                "subprocess.Popen(['sleep', '97532'])\n"
                "time.sleep(60)\n",
    };
    struct call call;

    (void)state;
    call_execute_as(&call, fixture, &request);
    assert_int_equal(call.end, RUN_TIMED_OUT);
    assert_int_equal(call.execution.returncode, -SIGKILL);
    assert_string_equal(call.out, "so far\n");
    assert_int_equal(json_array_size(call.files), 1);
    assert_in_range(call.total_seconds * 1000, 5500, 60000);
    assert_int_not_equal(system("grep -zqsx 97532 /proc/[0-9]*/cmdline"), 0);
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

/* Three files of a million bytes fit, with the rest of their last blocks. */
static const char SMALL_DISK[] = "{\"type\": \"system\", \"limits\": {\"disk\": 3500000}}";

static void test_a_run_that_fills_the_disk_is_killed(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct run_request request = {
        .code = "import time\n"
                "for i in range(4):\n"
                "    print(i, flush=True)\n"
                "    open(f'{i}.bin', 'wb').write(b'x' * 1000000)\n"
                "time.sleep(60)\n",
    };
    struct call call;

    (void)state;
    execute_in(&call, fixture, SMALL_DISK, &request);
    assert_int_equal(call.end, RUN_DISK_LIMIT);
    assert_string_equal(call.out, "0\n1\n2\n3\n");
    assert_int_equal(json_array_size(call.files), 4);
    assert_in_range(call.total_seconds * 1000, 0, 40000);
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

static void test_growth_is_looked_at_when_a_run_ends_too(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct run_request request = {
        .code = "for i in range(4): open(f'{i}.bin', 'wb').write(b'x' * 1000000)\n",
    };
    struct call calls[2];

    (void)state;
    execute_in(&calls[0], fixture, SMALL_DISK, &request);
    assert_int_equal(calls[0].end, RUN_DISK_LIMIT);
    /* What was there before is not this one's. */
    call_execute(&calls[1], fixture, "open('small', 'w').write('x')");
    assert_int_equal(calls[1].end, RUN_ENDED);
    calls_deinit(calls, 2);
    fixture_free(fixture);
}

static void test_output_beyond_the_limit_is_counted(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct run_request request = {
        .code = "import sys\nprint('head')\nsys.stdout.write('x' * 20000000)\nprint('\\ntail')\n",
    };
    struct call call;

    (void)state;
    execute_in(&call, fixture, "{\"type\": \"system\", \"limits\": {\"output\": 4096}}", &request);
    assert_int_equal(call.end, RUN_ENDED);
    assert_int_equal(strncmp(call.out, "head\nxxx", 8), 0);
    assert_non_null(strstr(call.out, "\n... [19995915 bytes left out] ...\n"));
    assert_string_equal(call.out + strlen(call.out) - 6, "\ntail\n");
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

/* The environment */

static void test_a_script_sees_nothing_of_the_server(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct run_request request = {
        .code = "import os, sys\n"
                "print(sorted(os.environ), repr(sys.stdin.read()), os.environ['TZ'],\n"
                "      os.environ['HOME'] == os.getcwd(), sys.flags.unbuffered if hasattr("
                "sys.flags, 'unbuffered') else 0)\n",
    };
    struct call call;

    (void)state;
    setenv("SECRET", "of the server", 1);
    execute_in(&call, fixture, "{\"type\": \"system\", \"environment\": {\"TZ\": \"UTC\"}}",
               &request);
    assert_string_equal(call.out,
                        "['HOME', 'LANG', 'LOKY_MAX_CPU_COUNT', 'NUMBA_NUM_THREADS', "
                        "'OMP_NUM_THREADS', 'PATH', 'POLARS_MAX_THREADS', "
                        "'PYTHONDONTWRITEBYTECODE', 'PYTHON_CPU_COUNT', 'RAYON_NUM_THREADS', "
                        "'TMPDIR', 'TZ'] '' UTC True 0\n");
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

static void
test_an_environment_that_cannot_be_prepared_fails_the_run_and_is_tried_again(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    AUTO_FREE char *python = memory_format("%s/python3", fixture->scratch);
    AUTO_FREE char *definition =
        memory_format("{\"type\": \"system\", \"executable\": \"%s\"}", python);
    struct run_request request = {.code = "print(1)"};
    struct call calls[3];

    (void)state;
    execute_in(&calls[0], fixture, definition, &request);
    assert_int_equal(calls[0].end, RUN_FAILED);
    assert_int_equal(calls[0].error.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(calls[0].error.message, "there is no Python interpreter at"));
    assert_null(calls[0].python_version);
    write_text(python, "#!/bin/sh\nexit 3\n");
    shell(fixture->scratch, "chmod 755 python3");
    call_execute_as(&calls[1], fixture, &request);
    assert_int_equal(calls[1].end, RUN_FAILED);
    assert_non_null(strstr(calls[1].error.message, "is not a working Python 3"));
    write_text(python, "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n");
    call_execute_as(&calls[2], fixture, &request);
    assert_string_equal(calls[2].out, "1\n");
    calls_deinit(calls, 3);
    fixture_free(fixture);
}

/* Cancelling and stopping */

/* Not even at its timeout does it end by itself. */
static const char STUBBORN[] = "import signal, time\n"
                               "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                               "time.sleep(97533)\n";
static const char ENDLESS[] = "import subprocess, time\n"
                              "subprocess.Popen(['sleep', '97533'])\n"
                              "print('line one')\n"
                              "print('line two', flush=True)\n"
                              "time.sleep(60)\n";

static bool is_left_behind(void)
{
    return system("grep -zqsx 97533 /proc/[0-9]*/cmdline") == 0;
}

static void run_until_it_is(struct call *call, const char *activity)
{
    while (strcmp(run_activity(call->run), activity) != 0)
        ev_run(call->fixture->loop, EVRUN_ONCE);
}

/* Cancels CODE when it is doing WANTED, in a directory after COMMAND; `done` must never come, and
 * nothing may be left. */
static void check_cancel_while(const char *wanted, const char *code, const char *command)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct call call;
    struct call next;

    shell(working_directory_path(fixture_directory(fixture)), command);
    call_submit(&call, fixture, code);
    run_until_it_is(&call, wanted);
    run_cancel(call.run);
    call_execute(&next, fixture, "print('next')"); /* its place is free */
    assert_string_equal(next.out, "next\n");
    assert_false(call.is_done);
    assert_false(is_left_behind());
    calls_deinit(&next, 1);
    fixture_free(fixture);
}

static void test_a_cancelled_run_is_killed_and_never_told(void **state)
{
    (void)state;
    check_cancel_while("waiting", ENDLESS, ":");
    check_cancel_while("preparing", ENDLESS, ":");
    check_cancel_while("running", ENDLESS, ":");
}

static void check_cancel_after_timeout(const char *wanted)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct run_request request = {.code = STUBBORN, .timeout = 2};
    struct call call;

    call_submit_as(&call, fixture, &request);
    run_until_it_is(&call, wanted);
    run_cancel(call.run);
    fixture_free(fixture);
    assert_false(call.is_done);
    assert_false(is_left_behind());
}

static void test_a_run_can_be_cancelled_while_it_is_being_ended(void **state)
{
    (void)state;
    check_cancel_after_timeout("interrupted");
    check_cancel_after_timeout("stopping");
}

/* They are looked at over many turns, before and after the run. */
static const char MANY_FILES[] = "seq 3000 | xargs mkdir";

static void test_a_run_can_be_cancelled_while_its_files_are_looked_at(void **state)
{
    (void)state;
    check_cancel_while("looking", "pass", MANY_FILES);
    check_cancel_while("listing files", "pass", MANY_FILES);
}

static void test_stopping_cancels_everything_and_takes_nothing_new(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 2});
    struct run_request request = {.code = "pass"};
    struct error err = ERROR_INIT;
    struct call calls[6];

    (void)state;
    for (int i = 0; i < 5; i++)
        call_submit(&calls[i], fixture, ENDLESS);
    while (calls[0].outputs == 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    executor_stop(fixture->executor);
    assert_int_equal(call_submit_request(&calls[5], fixture, &request, &err), -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    fixture_free(fixture);
    for (int i = 0; i < 5; i++)
        assert_false(calls[i].is_done);
    assert_false(is_left_behind());
}

static void test_the_newest_line_is_told_while_a_run_goes(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    AUTO_FREE char *line = NULL;
    struct call call;

    (void)state;
    call_submit(&call, fixture, ENDLESS);
    assert_string_equal(run_activity(call.run), "waiting");
    assert_null(run_last_line(call.run));
    while (call.outputs == 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    assert_string_equal(run_activity(call.run), "running");
    line = run_last_line(call.run);
    assert_string_equal(line, "line two");
    run_cancel(call.run);
    fixture_free(fixture);
}

static unsigned long counted(const char *outcome)
{
    return metrics_read(METRIC_RUNS, "system", outcome);
}

static void test_runs_are_counted_by_their_outcome(void **state)
{
    static const char *const codes[] = {"pass", "raise SystemExit(1)",
                                        "import os; os.kill(os.getpid(), 9)"};
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    unsigned long successes = counted("success");
    unsigned long errors = counted("error");
    unsigned long cancelled = counted("cancelled");
    unsigned long observed = metrics_read(METRIC_RUN_SECONDS, "system", NULL);
    struct call calls[5];

    (void)state;
    for (int i = 0; i < 3; i++)
        call_submit(&calls[i], fixture, codes[i]);
    assert_int_equal(executor_waiting(fixture->executor), 3);
    calls_wait(calls, 3);
    for (int i = 3; i < 5; i++)
        call_submit(&calls[i], fixture, ENDLESS);
    run_until_it_is(&calls[3], "running");
    assert_int_equal(executor_going(fixture->executor), 1);
    assert_int_equal(executor_waiting(fixture->executor), 1);
    run_cancel(calls[4].run);
    run_cancel(calls[3].run);
    calls_deinit(calls, 3);
    fixture_free(fixture);
    assert_int_equal(counted("success"), successes + 1);
    assert_int_equal(counted("error"), errors + 2);
    assert_int_equal(counted("cancelled"), cancelled + 2);
    assert_int_equal(metrics_read(METRIC_RUN_SECONDS, "system", NULL), observed + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_script_runs_and_everything_is_reported),
        cmocka_unit_test(test_a_timeout_keeps_what_was_printed_and_written),
        cmocka_unit_test(test_a_run_that_fills_the_disk_is_killed),
        cmocka_unit_test(test_growth_is_looked_at_when_a_run_ends_too),
        cmocka_unit_test(test_output_beyond_the_limit_is_counted),
        cmocka_unit_test(test_a_script_sees_nothing_of_the_server),
        cmocka_unit_test(
            test_an_environment_that_cannot_be_prepared_fails_the_run_and_is_tried_again),
        cmocka_unit_test(test_a_cancelled_run_is_killed_and_never_told),
        cmocka_unit_test(test_a_run_can_be_cancelled_while_it_is_being_ended),
        cmocka_unit_test(test_a_run_can_be_cancelled_while_its_files_are_looked_at),
        cmocka_unit_test(test_stopping_cancels_everything_and_takes_nothing_new),
        cmocka_unit_test(test_the_newest_line_is_told_while_a_run_goes),
        cmocka_unit_test(test_runs_are_counted_by_their_outcome),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
