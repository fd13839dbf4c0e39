/* Programs that a preparation runs: what they say, how they end, and that nothing is left. */
#include "environments/process/subprocess.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/environments/workbench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct trial {
    struct subprocess *tool;
    bool is_done;
    bool has_failed;
    struct error err;
    struct error_rest rest; /* of its message */
    char *output;
    char lines[4096];    /* each in brackets */
    const char *kill_at; /* the line at which it is killed, or NULL */
};

static void on_said(void *data, const char *line)
{
    struct trial *trial = data;
    size_t length = strlen(trial->lines);

    snprintf(trial->lines + length, sizeof trial->lines - length, "[%s]", line);
    if (trial->kill_at && strcmp(line, trial->kill_at) == 0)
        subprocess_kill(trial->tool);
}

static void on_ended(void *data, const char *output, const struct error *err)
{
    struct trial *trial = data;

    assert_false(trial->is_done);
    trial->is_done = true;
    trial->output = memory_copy_string(output);
    trial->has_failed = err != NULL;
    trial->err.rest = &trial->rest;
    if (err)
        error_copy(&trial->err, err);
}

/* Runs TEXT as a shell script. */
static void run(struct workbench *bench, struct trial *trial, const char *text)
{
    AUTO_FREE char *script = memory_format("#!/bin/sh\n%s\n", text);
    AUTO_FREE char *path = workbench_program(bench, "tool", script);
    const char *const arguments[] = {path, "one", NULL};
    const char *const variables[] = {"PATH=/usr/bin:/bin", "A=b", NULL};
    struct error err = ERROR_INIT;

    trial->tool = subprocess_start(
        &(struct subprocess_settings){
            .host = bench->host,
            .name = "packer",
            .arguments = arguments,
            .variables = variables,
            .directory = bench->scratch,
            .data = trial,
            .said = on_said,
            .ended = on_ended,
        },
        &err);
    assert_non_null(trial->tool);
    assert_false(trial->is_done);
    workbench_wait(bench, &trial->is_done);
    free(trial->output);
}

static void test_it_runs_with_what_it_was_given(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *expected = memory_format("[one b %s]", bench->scratch);
    struct trial trial = {0};

    run(bench, &trial, "echo $1 $A $PWD; test \"$HOME\" = ''");
    assert_false(trial.has_failed);
    assert_string_equal(trial.lines, expected);
}

static void test_lines_come_cleaned_and_cut(void **state)
{
    struct trial trial = {0};

    run(*state, &trial,
        "printf 'a\\n\\n  b  \\rc\\033[1m\\n' ; printf 'no end' >&2; sleep 0.1;"
        "printf '\\n%0500d\\n' 7");
    assert_false(trial.has_failed);
    assert_non_null(strstr(trial.lines, "[a][  b][c?[1m]"));
    assert_non_null(strstr(trial.lines, "[no end]"));
    assert_non_null(strstr(trial.lines, "000]"));
    assert_null(strchr(trial.lines, '7'));
}

static const struct {
    const char *text;
    enum error_code code;
    const char *message;
} ends[] = {
    {"exit 3", ERROR_UNAVAILABLE, "packer ended with exit status 3 and said nothing"},
    {"echo why; exit 1", ERROR_UNAVAILABLE, "packer ended with exit status 1:\nwhy"},
    {"echo why; kill -9 $$", ERROR_UNAVAILABLE, "packer was killed by signal 9:\nwhy"},
};

static void test_an_error_says_how_it_ended_and_what_it_said(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        struct trial trial = {0};

        run(*state, &trial, ends[i].text);
        assert_true(trial.has_failed);
        assert_int_equal(trial.err.code, ends[i].code);
        assert_string_equal(trial.err.message, ends[i].message);
    }
}

static void test_of_much_the_last_lines_are_kept_whole(void **state)
{
    struct trial trial = {0};
    AUTO_FREE char *text = NULL;
    size_t length;

    run(*state, &trial, "seq 100000; exit 1");
    text = error_text(&trial.err);
    length = strlen(text);
    assert_true(length > 1000 && length < 1400);
    assert_string_equal(text + length - 13, "\n99999\n100000");
    assert_memory_equal(strchr(text, '\n'), "\n99", 3);
}

static void test_one_that_is_killed_leaves_nothing(void **state)
{
    struct trial trial = {.kill_at = "ready"};

    run(*state, &trial, "sleep 86413 & setsid sleep 86413 & echo ready; sleep 86413");
    assert_true(trial.has_failed);
    assert_int_not_equal(system("grep -zqsx 86413 /proc/[0-9]*/cmdline"), 0);
}

static void test_one_that_is_no_program_says_so(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *path = memory_format("%s/nothing", bench->scratch);
    const char *const arguments[] = {path, NULL};
    const char *const variables[] = {NULL};
    struct trial trial = {0};
    struct error err = ERROR_INIT;

    trial.tool = subprocess_start(&(struct subprocess_settings){.host = bench->host,
                                                                .name = "packer",
                                                                .arguments = arguments,
                                                                .variables = variables,
                                                                .directory = "/",
                                                                .data = &trial,
                                                                .ended = on_ended},
                                  &err);
    assert_non_null(trial.tool);
    workbench_wait(bench, &trial.is_done);
    free(trial.output);
    assert_memory_equal(trial.err.message, "cannot run packer: ", 19);
    assert_non_null(strstr(trial.err.message, "No such file or directory"));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, workbench_setup, workbench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_it_runs_with_what_it_was_given),
        TEST(test_lines_come_cleaned_and_cut),
        TEST(test_an_error_says_how_it_ended_and_what_it_said),
        TEST(test_of_much_the_last_lines_are_kept_whole),
        TEST(test_one_that_is_killed_leaves_nothing),
        TEST(test_one_that_is_no_program_says_so),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
