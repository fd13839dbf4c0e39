/* Interpreters that are there, and things that look like one, asked by the real process layer. */
#include "environments/interpreter/interpreter.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/process/process.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL "/usr/bin/python3"

struct search {
    struct ev_loop *loop;
    struct process_host *host;
    char *scratch;
    struct interpreter interpreter;
    bool is_done;
    struct error err;
};

static int setup(void **state)
{
    struct search *search = NEW(struct search);
    struct process_host_settings settings = {.runner_path = getenv("RUNNER"),
                                             .policy = {.wanted = LAYERS_OF_TREES}};
    struct error err = ERROR_INIT;

    search->loop = ev_loop_new(0);
    settings.loop = search->loop;
    search->host = process_host_new(&settings, &err);
    if (!search->host)
        fail_msg("%s", err.message);
    search->scratch = scratch_new();
    *state = search;
    return 0;
}

static int teardown(void **state)
{
    struct search *search = *state;

    interpreter_deinit(&search->interpreter);
    process_host_stop(search->host);
    while (!process_host_is_idle(search->host))
        ev_run(search->loop, EVRUN_ONCE);
    process_host_free(search->host);
    ev_loop_destroy(search->loop);
    scratch_free(search->scratch);
    free(search);
    return 0;
}

static void on_done(struct interpreter *interpreter, const struct error *err)
{
    struct search *search = CONTAINER_OF(interpreter, struct search, interpreter);

    assert_false(search->is_done);
    search->is_done = true;
    if (err)
        error_copy(&search->err, err);
    ev_break(search->loop, EVBREAK_ALL);
}

static void begin(struct search *search, const char *name)
{
    interpreter_init(&search->interpreter, search->loop, search->host, name);
    search->interpreter.done = on_done;
}

static void on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("no answer within its bound");
}

/* Finds, waiting where that is needed; says whether it was. */
static enum outcome find(struct search *search)
{
    enum outcome outcome;
    ev_timer bound;

    search->is_done = false;
    search->err = (struct error)ERROR_INIT;
    outcome = interpreter_resolve(&search->interpreter, &search->err);
    assert_false(search->is_done);
    if (outcome != OUTCOME_PENDING)
        return outcome;
    ev_now_update(search->loop);
    ev_timer_init(&bound, on_bound, 100., 0.);
    ev_timer_start(search->loop, &bound);
    while (!search->is_done)
        ev_run(search->loop, 0);
    ev_timer_stop(search->loop, &bound);
    return outcome;
}

/* An executable file NAME with TEXT in the scratch directory; its path, owned by the caller. */
static char *make_program(struct search *search, const char *name, const char *text)
{
    char *path = memory_format("%s/%s", search->scratch, name);

    write_text(path, text);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static void test_an_interpreter_says_who_it_is(void **state)
{
    struct search *search = *state;

    begin(search, REAL);
    assert_int_equal(find(search), OUTCOME_PENDING);
    assert_int_equal(search->err.code, ERROR_NONE);
    assert_string_equal(search->interpreter.executable, REAL);
    assert_string_equal(search->interpreter.prefix, "/usr");
    assert_int_equal(strncmp(search->interpreter.version, "3.", 2), 0);
}

static void test_it_is_asked_once_and_again_when_the_file_changed(void **state)
{
    struct search *search = *state;
    AUTO_FREE char *path = make_program(search, "wrapper", "#!/bin/sh\nexec " REAL " \"$@\"\n");

    begin(search, path);
    assert_int_equal(find(search), OUTCOME_PENDING);
    assert_int_equal(find(search), OUTCOME_READY);
    write_text(path, "#!/bin/sh\necho broken now >&2; exit 1\n");
    assert_int_equal(find(search), OUTCOME_PENDING);
    assert_int_equal(search->err.code, ERROR_UNAVAILABLE);
    assert_null(search->interpreter.executable);
    write_text(path, "#!/bin/sh\nexec " REAL " \"$@\"\n"); /* repaired */
    assert_int_equal(find(search), OUTCOME_PENDING);
    assert_int_equal(search->err.code, ERROR_NONE);
}

static void test_a_shim_is_resolved_to_what_is_behind_it(void **state)
{
    struct search *search = *state;

    free(make_program(search, "python3", "#!/bin/sh\nexec " REAL " \"$@\"\n"));
    setenv("PATH", search->scratch, 1);
    begin(search, NULL);
    find(search);
    setenv("PATH", "/usr/bin:/bin", 1);
    assert_int_equal(search->err.code, ERROR_NONE);
    assert_string_equal(search->interpreter.executable, REAL);
}

/* A virtual environment's interpreter is a link; behind the link it would be another one. */
static void test_a_virtual_environment_stays_one(void **state)
{
    struct search *search = *state;
    AUTO_FREE char *path = memory_format("%s/bin/python3", search->scratch);

    shell(search->scratch,
          "mkdir bin; ln -s " REAL " bin/python3; echo 'home = /usr/bin' >pyvenv.cfg");
    begin(search, path);
    find(search);
    assert_string_equal(search->interpreter.executable, path);
}

/* Here the real one does not answer as the wrapper does: it lacks what the wrapper sets. */
static void test_a_wrapper_that_is_needed_stays_in_use(void **state)
{
    struct search *search = *state;
    AUTO_FREE char *real = make_program(search, "real",
                                        "#!/bin/sh\n"
                                        "test \"$NEEDED\" || { echo no >&2; exit 1; }\n"
                                        "printf 'python\\0%s\\0003.9.9\\0/p\\0' \"$0\"\n");
    AUTO_FREE char *text = memory_format("#!/bin/sh\nNEEDED=1 exec %s \"$@\"\n", real);
    AUTO_FREE char *wrapper = make_program(search, "wrapper", text);

    begin(search, wrapper);
    find(search);
    assert_int_equal(search->err.code, ERROR_NONE);
    assert_string_equal(search->interpreter.executable, wrapper);
    assert_string_equal(search->interpreter.version, "3.9.9");
}

static const struct {
    const char *text;
    const char *message; /* behind the path */
} failures[] = {
    {"#!/bin/sh\necho 'pyenv: python3: command not found' >&2; exit 127\n",
     " is not a working Python 3: pyenv: python3: command not found"},
    {"#!/bin/sh\nexit 0\n", " is not a working Python 3"},
    {"#!/bin/sh\necho 'Unknown option: -I' >&2; echo usage >&2; exit 2\n",
     " is not a working Python 3: Unknown option: -I"},
    {"#!/bin/sh\nprintf 'python\\0/usr/bin/python2\\0002.7.18\\0/usr\\0'\n",
     " is Python 2.7.18, Python 3 is needed"},
    {"#!/bin/sh\nprintf 'python\\0/usr'\n", " is not a working Python 3"},
    {"#!/bin/sh\nkill -9 $$\n", " is not a working Python 3"},
    {"#!/bin/sh\nyes | head -c 10000000\n", " is not a working Python 3"},
};

static void test_what_is_no_python_3_is_told_apart(void **state)
{
    struct search *search = *state;

    for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
        AUTO_FREE char *path = make_program(search, "python3", failures[i].text);
        AUTO_FREE char *expected = memory_format("%s%s", path, failures[i].message);

        begin(search, path);
        find(search);
        assert_int_equal(search->err.code, ERROR_UNAVAILABLE);
        assert_string_equal(search->err.message, expected);
        interpreter_deinit(&search->interpreter);
    }
    begin(search, REAL);
}

static void test_a_file_that_cannot_be_executed_says_why(void **state)
{
    struct search *search = *state;
    AUTO_FREE char *path = make_program(search, "python3", "no interpreter line");

    begin(search, path);
    find(search);
    assert_int_equal(search->err.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(search->err.message, path));
    assert_non_null(strstr(search->err.message, "Exec format error"));
}

static void test_the_next_one_on_path_is_taken_when_the_first_fails(void **state)
{
    struct search *search = *state;
    AUTO_FREE char *path = memory_format("relative:%s::/usr/bin", search->scratch);

    free(make_program(search, "python3", "#!/bin/sh\nexit 1\n"));
    setenv("PATH", path, 1);
    begin(search, NULL);
    find(search);
    setenv("PATH", "/usr/bin:/bin", 1);
    assert_int_equal(search->err.code, ERROR_NONE);
    assert_string_equal(search->interpreter.executable, REAL);
}

static void test_when_all_fail_the_first_ones_reason_is_told(void **state)
{
    struct search *search = *state;

    free(make_program(search, "python3", "#!/bin/sh\necho first >&2; exit 1\n"));
    setenv("PATH", search->scratch, 1);
    begin(search, "python3");
    find(search);
    setenv("PATH", "/usr/bin:/bin", 1);
    assert_non_null(strstr(search->err.message, "is not a working Python 3: first"));
}

static void test_nothing_on_path_fails_at_once(void **state)
{
    struct search *search = *state;

    setenv("PATH", "/nowhere", 1);
    begin(search, NULL);
    assert_int_equal(find(search), OUTCOME_FAILED);
    setenv("PATH", "/usr/bin:/bin", 1);
    assert_string_equal(search->err.message, "there is no python3 on PATH (/nowhere)");
}

static const struct {
    const char *name;
    const char *message;
} missing[] = {
    {"/nowhere/python3",
     "there is no Python interpreter at /nowhere/python3: No such file or directory"},
    {"/etc/passwd", "/etc/passwd is not executable"},
    {"/usr", "/usr is a directory, not a Python interpreter"},
    {"python9", "there is no python9 on PATH (/nowhere:/usr/bin:relative)"},
};

static void test_what_is_not_there_is_told_with_what_is(void **state)
{
    struct search *search = *state;

    setenv("PATH", "/nowhere:/usr/bin:relative", 1);
    for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
        AUTO_FREE char *expected = memory_format("%s; found: " REAL, missing[i].message);

        begin(search, missing[i].name);
        assert_int_equal(find(search), OUTCOME_FAILED);
        assert_memory_equal(search->err.message, expected, strlen(expected));
        interpreter_deinit(&search->interpreter);
    }
    setenv("PATH", "/usr/bin:/bin", 1);
    begin(search, REAL);
}

static void test_one_that_hangs_is_given_up_with_all_it_started(void **state)
{
    struct search *search = *state;
    AUTO_FREE char *path = make_program(
        search, "python3", "#!/bin/sh\nsleep 97531 & trap '' TERM; sleep 97531; sleep 97531\n");

    begin(search, path);
    find(search);
    assert_int_equal(search->err.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(search->err.message, "did not answer within 15 seconds"));
    assert_int_not_equal(system("grep -zqsx 97531 /proc/[0-9]*/cmdline"), 0);
}

static void test_one_that_is_forgotten_is_not_told(void **state)
{
    struct search *search = *state;
    struct error err = ERROR_INIT;

    begin(search, REAL);
    assert_int_equal(interpreter_resolve(&search->interpreter, &err), OUTCOME_PENDING);
    interpreter_deinit(&search->interpreter);
    process_host_stop(search->host);
    while (!process_host_is_idle(search->host))
        ev_run(search->loop, EVRUN_ONCE);
    assert_false(search->is_done);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_interpreter_says_who_it_is),
        TEST(test_it_is_asked_once_and_again_when_the_file_changed),
        TEST(test_a_shim_is_resolved_to_what_is_behind_it),
        TEST(test_a_virtual_environment_stays_one),
        TEST(test_a_wrapper_that_is_needed_stays_in_use),
        TEST(test_what_is_no_python_3_is_told_apart),
        TEST(test_a_file_that_cannot_be_executed_says_why),
        TEST(test_the_next_one_on_path_is_taken_when_the_first_fails),
        TEST(test_when_all_fail_the_first_ones_reason_is_told),
        TEST(test_nothing_on_path_fails_at_once),
        TEST(test_what_is_not_there_is_told_with_what_is),
        TEST(test_one_that_hangs_is_given_up_with_all_it_started),
        TEST(test_one_that_is_forgotten_is_not_told),
    };

    setenv("PATH", "/usr/bin:/bin", 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
