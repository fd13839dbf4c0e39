/* A real Python asked for its packages, and programs that answer as they like. */
#include "environments/packages/python_question.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/packages/python_facts.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/environments/workbench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct inquiry {
    bool is_done;
    json_t *answer;
    struct error err;
};

static void on_answered(void *data, const json_t *answer, const struct error *err)
{
    struct inquiry *inquiry = data;

    assert_false(inquiry->is_done);
    assert_true(!answer == !!err);
    inquiry->is_done = true;
    inquiry->answer = json_incref((json_t *)answer);
    if (err)
        error_copy(&inquiry->err, err);
}

static struct python_question *begin(struct workbench *bench, struct inquiry *inquiry,
                                     const char *python)
{
    const struct tool_holding nothing = {0};
    struct error err = ERROR_INIT;
    struct python_question *question =
        python_question_start(&(struct python_question_settings){.loop = bench->loop,
                                                                 .host = bench->host,
                                                                 .python = python,
                                                                 .holding = &nothing,
                                                                 .data = inquiry,
                                                                 .answered = on_answered},
                              &err);

    if (!question)
        fail_msg("%s", err.message);
    return question;
}

static void ask(struct workbench *bench, struct inquiry *inquiry, const char *python)
{
    *inquiry = (struct inquiry){0};
    begin(bench, inquiry, python);
    workbench_wait(bench, &inquiry->is_done);
}

/* The Python of a venv, owned by the caller, which has the packages that COMMAND makes in its
 * site-packages. */
static char *make_venv(struct workbench *bench, const char *command)
{
    AUTO_FREE char *all = memory_format("/usr/bin/python3 -m venv --without-pip venv &&"
                                        " cd venv/lib/python3*/site-packages && %s",
                                        command);

    shell(bench->scratch, all);
    return memory_format("%s/venv/bin/python", bench->scratch);
}

#define PACKAGE(NAME, MORE)                                                                        \
    "mkdir '" NAME "-1.dist-info' && printf 'Metadata-Version: 2.1\\nName: " NAME                  \
    "\\nVersion: 1\\n" MORE "' >'" NAME "-1.dist-info/METADATA' && "

static void test_a_python_names_its_packages(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *python =
        make_venv(bench, PACKAGE("Gadget", "Requires-Dist: widget>=1\\n"
                                           "Requires-Dist: extra_tool; extra == \"more\"\\n")
                             PACKAGE("widget", "") PACKAGE("extra-tool", "") "true");
    struct inquiry inquiry;
    AUTO_FREE char *packages = NULL;

    ask(bench, &inquiry, python);
    packages = json_dumps(json_object_get(inquiry.answer, "packages"), JSON_SORT_KEYS);
    assert_string_equal(packages, "{\"extra-tool\": false, \"gadget\": false, \"widget\": true}");
    assert_int_equal(*json_object_get_string(inquiry.answer, "version"), '3');
    json_decref(inquiry.answer);
}

static void test_a_broken_package_does_not_hide_the_others(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *python =
        make_venv(bench, PACKAGE("gadget", "") "mkdir broken-1.dist-info other-1.dist-info && "
                                               "mkdir other-1.dist-info/METADATA");
    struct inquiry inquiry;

    ask(bench, &inquiry, python);
    assert_true(
        json_is_false(json_object_get(json_object_get(inquiry.answer, "packages"), "gadget")));
    json_decref(inquiry.answer);
}

static void test_what_a_venv_prints_is_no_answer(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *python =
        make_venv(bench, "echo 'import sys; sys.stdout.write(\"hello\")' >a.pth");
    struct inquiry inquiry;

    ask(bench, &inquiry, python);
    assert_null(inquiry.answer);
    assert_string_equal(inquiry.err.message, "no valid answer");
}

static void test_a_flood_is_no_answer(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *python =
        workbench_program(bench, "python", "#!/bin/sh\nhead -c 9000000 /dev/zero\n");
    struct inquiry inquiry;

    ask(bench, &inquiry, python);
    assert_null(inquiry.answer);
}

static void test_who_does_not_answer_is_killed(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *python = workbench_program(bench, "python", "#!/bin/sh\nsleep 1000\n");
    struct inquiry inquiry;

    ask(bench, &inquiry, python);
    assert_null(inquiry.answer);
    assert_non_null(strstr(inquiry.err.message, "killed"));
}

static void test_nobody_is_told_what_is_forgotten(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *python = workbench_program(bench, "python", "#!/bin/sh\nsleep 1000\n");
    struct inquiry inquiry = {0};

    python_question_forget(begin(bench, &inquiry, python));
    while (!process_host_is_idle(bench->host)) {
        process_host_stop(bench->host);
        ev_run(bench->loop, EVRUN_ONCE);
    }
    assert_false(inquiry.is_done);
}

static void test_what_is_no_program_fails(void **state)
{
    struct workbench *bench = *state;
    struct inquiry inquiry;

    ask(bench, &inquiry, "/nowhere/python");
    assert_null(inquiry.answer);
    assert_non_null(strstr(inquiry.err.message, "/nowhere/python"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_python_names_its_packages, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_a_broken_package_does_not_hide_the_others,
                                        workbench_setup, workbench_teardown),
        cmocka_unit_test_setup_teardown(test_what_a_venv_prints_is_no_answer, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_a_flood_is_no_answer, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_who_does_not_answer_is_killed, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_nobody_is_told_what_is_forgotten, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_program_fails, workbench_setup,
                                        workbench_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
