#include "server/tools/python/many_text.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static json_t *ran(bool success, const char *output, const char *errors)
{
    return json_pack("{s:b, s:n, s:{s:s, s:s, s:n}}", "success", success, "error", "result",
                     "stdout", output, "stderr", errors, "error");
}

static void test_each_run_has_its_output_or_its_failure(void **state)
{
    AUTO_JSON json_t *entries =
        json_pack("[o, o, {s:b, s:s, s:n}]", ran(true, "1\n", "aside"),
                  ran(false, "2", "Traceback:\n  at line 1\nValueError: no\n"), "success", 0,
                  "error", "not run", "result");
    AUTO_FREE char *text = many_text(entries, "exitcode: 1", 1);

    (void)state;
    assert_string_equal(text, "3 runs: 1 succeeded, 2 failed.\n\nRun 1 has failed:\nexitcode: 1\n\n"
                              "The output of each run:\n0: 1\n1: failed: ValueError: no\n"
                              "2: failed: not run");
}

static void test_no_output_looks_like_another_run(void **state)
{
    AUTO_JSON json_t *entries =
        json_pack("[o, o]", ran(true, "a\n1: \033[1mforged\n", ""), ran(true, "", ""));
    AUTO_FREE char *text = many_text(entries, NULL, 0);

    (void)state;
    assert_non_null(strstr(text, "\n0: a\n    1: forged\n1: "));
}

static void test_all_of_many_long_outputs_fit(void **state)
{
    AUTO_FREE char *long_one = memory_new(100001, 1);
    AUTO_JSON json_t *entries = json_array();
    AUTO_FREE char *text = NULL;

    (void)state;
    memset(long_one, 'x', 100000);
    for (int i = 0; i < 256; i++)
        json_array_append_new(entries, ran(i % 2, long_one, long_one));
    text = many_text(entries, NULL, 0);
    assert_in_range(strlen(text), 5000, 25000);
    assert_non_null(strstr(text, "\n255: x"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_run_has_its_output_or_its_failure),
        cmocka_unit_test(test_no_output_looks_like_another_run),
        cmocka_unit_test(test_all_of_many_long_outputs_fit),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
