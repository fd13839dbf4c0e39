/* Processes on a real loop with the real runner. */
#include "environments/process/process.h"

#include "base/memory.h"
#include "tests/unit/process/process_trial.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void test_output_and_status_come_back(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;

    (void)state;
    process_trial_execute(
        host, &trial, "import os; print(os.environ['MARK'], os.getpid(), flush=True); os._exit(7)",
        0);
    assert_true(trial.end.reported);
    assert_int_equal(trial.end.returncode, 7);
    assert_string_equal(trial.end.failure, "");
    assert_string_equal(trial.output,
                        trial.end.receipt.layers & LAYER_PID_NAMESPACE ? "yes 2\n" : trial.output);
    assert_true(trial.end.cpu_seconds > 0);
    assert_true(trial.end.peak_memory > 1 << 20);
    trial_host_free(host);
}

static void test_signal_is_reported_as_it_is(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;

    (void)state;
    process_trial_execute(host, &trial, "import os; os.kill(os.getpid(), 11)", 0);
    assert_true(trial.end.reported);
    assert_int_equal(trial.end.returncode, -SIGSEGV);
    assert_false(trial.end.killed);
    trial_host_free(host);
}

static void check_interrupt(unsigned layers)
{
    struct trial_host *host = trial_host_new(layers);
    const char *const arguments[] = {
        "/usr/bin/python3", "-uISc",
        "import subprocess, time\nchild = subprocess.Popen(['sleep', '100'])\n"
        "try:\n  for _ in range(8): print('ready'); time.sleep(5)\n"
        "finally: print(f'flushed {child.poll()}\\n', end='')\n", /* at once, among other output */
        NULL};
    struct process_trial trial;

    process_trial_begin(host, &trial, arguments);
    process_interrupt(&trial.process); /* there is no program yet */
    trial.when_ready = process_interrupt;
    process_trial_wait(host, &trial, 0);
    process_interrupt(&trial.process); /* nor is there one now */
    assert_non_null(strstr(trial.output, "flushed None\n"));
    assert_non_null(strstr(trial.output, "KeyboardInterrupt"));
    assert_true(trial.end.reported && !trial.end.killed);
    assert_int_equal(trial.end.returncode, -SIGINT);
    trial_host_free(host);
}

static void test_an_interrupted_program_shows_where_it_stood(void **state)
{
    (void)state;
    check_interrupt(LAYERS_OF_TREES);
    check_interrupt(LAYER_LANDLOCK);
}

static void check_early_interrupt(unsigned layers)
{
    struct trial_host *host = trial_host_new(layers);
    const char *const arguments[] = {"/usr/bin/python3", "-ISc",
                                     "import signal\nprint(signal.sigwait([signal.SIGINT]))", NULL};
    const char *const variables[] = {NULL};
    struct process_trial trial;
    struct error err = ERROR_INIT;
    int input[2];

    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    assert_int_equal(process_trial_start(host, &trial,
                                         &(struct process_command){.arguments = arguments,
                                                                   .environment = variables,
                                                                   .directory = "/",
                                                                   .input = input[0],
                                                                   .limits = trial_limits},
                                         &err),
                     0);
    process_interrupt(&trial.process); /* there is no program yet */
    process_trial_wait(host, &trial, TRIAL_SOON_SECONDS);
    assert_string_equal(trial.output, "2\n");
    assert_int_equal(trial.end.returncode, 0);
    close(input[0]);
    close(input[1]);
    trial_host_free(host);
}

static void test_a_program_with_an_input_gets_the_interrupt_that_came_before_it(void **state)
{
    (void)state;
    check_early_interrupt(LAYERS_OF_TREES);
    check_early_interrupt(LAYER_LANDLOCK);
}

static void test_the_end_says_what_held_the_tree(void **state)
{
    static const unsigned wanted[] = {LAYERS_OF_TREES, LAYER_LANDLOCK, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        struct trial_host *host = trial_host_new(wanted[i]);
        const struct process_receipt expected = process_host_receipt(host->host, NULL);
        struct process_trial trial;

        process_trial_execute(host, &trial, "pass", 0);
        assert_int_equal(trial.end.receipt.layers & ~wanted[i], 0);
        assert_int_equal(trial.end.receipt.layers, expected.layers);
        assert_int_equal(trial.end.receipt.limiter, expected.limiter);
        assert_int_equal(trial.missing, json_array_size(expected.missing));
        trial_host_free(host);
    }
}

static void test_what_a_killed_program_has_used_is_known(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    const char *const arguments[] = {"/usr/bin/python3", "-uISc",
                                     "import time\n"
                                     "while time.process_time() < 0.5: pass\n"
                                     "while True: print('ready'); time.sleep(1)",
                                     NULL};
    struct process_trial trial;

    (void)state;
    process_trial_begin(host, &trial, arguments);
    trial.when_ready = process_kill;
    process_trial_wait(host, &trial, 0);
    assert_true(trial.end.killed);
    assert_true(trial.end.run_seconds > 0.3 && trial.end.run_seconds < TRIAL_SOON_SECONDS);
    assert_true(trial.end.cpu_seconds > 0.3 && trial.end.cpu_seconds < TRIAL_SOON_SECONDS);
    assert_true(trial.end.peak_memory > 1 << 20);
    trial_host_free(host);
}

static void test_program_that_cannot_be_executed_says_why(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    const char *const arguments[] = {"/nonexistent/python9", NULL};
    struct process_trial trial;

    (void)state;
    process_trial_begin(host, &trial, arguments);
    process_trial_wait(host, &trial, 0);
    assert_false(trial.end.reported);
    assert_string_equal(trial.end.failure,
                        "cannot execute /nonexistent/python9: No such file or directory");
    trial_host_free(host);
}

static void test_a_runner_that_says_nothing_is_a_failure(void **state)
{
    struct trial_host *host = NEW(struct trial_host);
    struct process_host_settings settings = {.runner_path = "/bin/true"};
    struct process_trial trial;
    struct error err = ERROR_INIT;

    (void)state;
    settings.loop = host->loop = ev_loop_new(0);
    host->host = process_host_new(&settings, &err);
    process_trial_execute(host, &trial, "pass", 0);
    assert_string_equal(trial.end.failure, "the runner ended before the program started");
    trial_host_free(host);
}

static void test_a_script_is_seen_by_its_process_only(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    char directory[] = "/tmp/test-script-XXXXXX";
    char target[64], seen[16] = "";
    const char *const arguments[] = {
        "/bin/sh", "-c",
        "exec 2>&-; cat $0; mv $0 x; rm -f $0; echo no >$0; >y; mv -f y $0; cat $0", target, NULL};
    const char *const variables[] = {NULL};
    struct process_trial trial;
    struct error err = ERROR_INIT;
    FILE *file;

    (void)state;
    trial_host_let_spare_prepare(host);
    if (!(process_host_receipt(host->host, NULL).layers & LAYER_PID_NAMESPACE)) {
        trial_host_free(host);
        skip();
    }
    assert_non_null(mkdtemp(directory));
    snprintf(target, sizeof target, "%s/target", directory);
    file = fopen(target, "w");
    fputs("others", file);
    fclose(file);
    assert_int_equal(process_trial_start(host, &trial,
                                         &(struct process_command){.arguments = arguments,
                                                                   .environment = variables,
                                                                   .directory = directory,
                                                                   .code = "mine",
                                                                   .code_length = 4,
                                                                   .script = target,
                                                                   .limits = trial_limits},
                                         &err),
                     0);
    process_trial_wait(host, &trial, 0);
    assert_string_equal(trial.output, "minemine");
    file = fopen(target, "r");
    assert_non_null(fgets(seen, sizeof seen, file));
    fclose(file);
    assert_string_equal(seen, "others");
    unlink(target);
    snprintf(target, sizeof target, "%s/y", directory);
    unlink(target);
    assert_int_equal(rmdir(directory), 0);
    trial_host_free(host);
}

static void test_input_is_what_the_program_reads(void **state)
{
    const char *const arguments[] = {"/bin/cat", NULL};
    const char *const variables[] = {NULL};
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    int input = memfd_create("input", MFD_CLOEXEC);
    struct process_trial trial;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(write(input, "a picture", 9), 9);
    assert_int_equal(lseek(input, 0, SEEK_SET), 0);
    assert_int_equal(process_trial_start(host, &trial,
                                         &(struct process_command){.arguments = arguments,
                                                                   .environment = variables,
                                                                   .directory = "/",
                                                                   .input = input,
                                                                   .limits = trial_limits},
                                         &err),
                     0);
    close(input);
    process_trial_wait(host, &trial, 0);
    assert_int_equal(trial.end.returncode, 0);
    assert_string_equal(trial.output, "a picture");
    trial_host_free(host);
}

static int run_alone_by_a_slow_runner(void)
{
    const char *const arguments[] = {"/bin/echo", "alone", NULL};
    const char *const variables[] = {NULL};
    struct process_command command = {
        .arguments = arguments, .environment = variables, .directory = "/", .limits = trial_limits};
    struct process_trial trial;
    struct trial_host *host;
    struct error err = ERROR_INIT;

    setenv("RUNNER", getenv("SLOW_RUNNER"), 1);
    host = trial_host_new(LAYERS_OF_TREES);
    command.limits.processes = 1;
    if (process_trial_start(host, &trial, &command, &err) < 0)
        return 1;
    process_trial_wait(host, &trial, 0);
    return strcmp(trial.end.failure, "") != 0 || strcmp(trial.output, "alone\n") != 0;
}

/* The runner that has prepared the tree does not count. */
static void test_the_only_process_that_is_allowed_can_start(void **state)
{
    (void)state;
    run_in_child(run_alone_by_a_slow_runner);
}

static void test_memory_limit_ends_the_program(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;

    (void)state;
    process_trial_execute(host, &trial, "x = bytearray(600 << 20); print(len(x))", 0);
    assert_int_not_equal(trial.end.returncode, 0);
    if (trial.end.receipt.limiter != LIMITER_RLIMITS)
        assert_true(trial.end.out_of_memory);
    else
        assert_non_null(strstr(trial.output, "MemoryError"));
    trial_host_free(host);
}

static void test_output_flood_is_counted_exactly(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;

    (void)state;
    process_trial_execute(host, &trial,
                          "import os\nb = b'x' * 65536\nfor i in range(1600):\n n = 0\n"
                          " while n < len(b): n += os.write(1 + i % 2, b[n:])",
                          0);
    assert_int_equal(trial.bytes, 1600 * 65536);
    trial_host_free(host);
}

static void test_weaker_containment_is_refused_unless_allowed(void **state)
{
    struct trial_host *host = NEW(struct trial_host);
    struct process_host_settings settings = {.runner_path = getenv("RUNNER"),
                                             .policy = {.required = LAYERS_OF_TREES}};
    const char *const arguments[] = {"/bin/true", NULL};
    const char *const variables[] = {NULL};
    struct process_trial trial;
    struct error err = ERROR_INIT;

    (void)state;
    settings.loop = host->loop = ev_loop_new(0);
    host->host = process_host_new(&settings, &err);
    assert_non_null(host->host);
    assert_int_equal(process_trial_start(host, &trial,
                                         &(struct process_command){.arguments = arguments,
                                                                   .environment = variables,
                                                                   .directory = "/",
                                                                   .limits = trial_limits},
                                         &err),
                     -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(err.message, "best-effort"));
    trial_host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_status_come_back),
        cmocka_unit_test(test_signal_is_reported_as_it_is),
        cmocka_unit_test(test_an_interrupted_program_shows_where_it_stood),
        cmocka_unit_test(test_a_program_with_an_input_gets_the_interrupt_that_came_before_it),
        cmocka_unit_test(test_the_end_says_what_held_the_tree),
        cmocka_unit_test(test_what_a_killed_program_has_used_is_known),
        cmocka_unit_test(test_program_that_cannot_be_executed_says_why),
        cmocka_unit_test(test_a_runner_that_says_nothing_is_a_failure),
        cmocka_unit_test(test_a_script_is_seen_by_its_process_only),
        cmocka_unit_test(test_input_is_what_the_program_reads),
        cmocka_unit_test(test_the_only_process_that_is_allowed_can_start),
        cmocka_unit_test(test_memory_limit_ends_the_program),
        cmocka_unit_test(test_output_flood_is_counted_exactly),
        cmocka_unit_test(test_weaker_containment_is_refused_unless_allowed),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
