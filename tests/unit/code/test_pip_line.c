#include "server/tools/code/pip_line.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/code/code_cleaning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *code;
    const char *packages; /* NULL: there are none */
    const char *rest;     /* the code that runs; NULL: not looked at */
} taken[] = {
    {"%pip install rich", "[\"rich\"]", "                 "},
    {"x\n!pip install -q 'rich>=1' tqdm\ny", "[\"rich>=1\", \"tqdm\"]",
     "x\n                              \ny"},
    {"!pip3 install a\n! python3 -m pip install b[c]", "[\"a\", \"b[c]\"]",
     "               \n                             "},
    {"%uv pip install a # why", "[\"a\"]", "                  # why"},
    {"!{sys.executable} -m pip install --upgrade a", "[\"a\"]",
     "                                            "},
    {"%pip install a \\\n  b\nx", "[\"a\", \"b\"]", "                \n   \nx"},
    {"%pip install a \\\r\n  b\r\nx", "[\"a\", \"b\"]", "                \r\n   \r\nx"},
    {"pip install a", "[\"a\"]", "             "},
    {"python -m pip install a\nx", "[\"a\"]", "                       \nx"},
    {"pip = install", NULL, NULL},
    {"pip\ninstall", NULL, NULL},
    {"%pip install 'a >= 1.0' \"b [c]\"", "[\"a>=1.0\", \"b[c]\"]", NULL},
    {"%pip install -qU a;", "[\"a\"]", "                   "},
    {"!pip install a > /dev/null 2>&1", "[\"a\"]", NULL},
    {"!pip install a &>/dev/null", "[\"a\"]", NULL},
    {"%pip -q install a", "[\"a\"]", NULL},
    {"!python3.11 -m pip install a\n!pip3.11 install b", "[\"a\", \"b\"]", NULL},
    {"%pip install a==1 b\n%pip install A==2", "[\"A==2\", \"b\"]", NULL},
    {"x = '''\n%pip install a\n'''", NULL, NULL},
    {"x = (1,\n%pip install a)", NULL, NULL},
    {"if x:\n    %pip install a", NULL, NULL},
    {"%pip install a\nx = '", NULL, NULL},
    {"%%bash\n!pip install a", NULL, NULL},
    {"%pip list", NULL, NULL},
    {"# %pip install a", NULL, NULL},
    {"", NULL, NULL},
};

static const char *const refused[] = {
    "%pip install",
    "%pip install -r x.txt",
    "%pip install -e .",
    "%pip install .",
    "%pip install ./a",
    "%pip install http://x/a.whl",
    "%pip install git+ssh://x/a",
    "%pip install a @ file:///a",
    "%pip install --no-deps a",
    "!pip install a && ls",
    "!pip install a; ls",
    "!pip install a | tail",
    "!pip install $A",
    "!pip install `ls`",
    "%pip install a==",
    "%pip install _",
    "%pip install 'a b'",
    "%pip install ' -r x'",
    "%pip install a, b",
    "!pip install a > log.txt",
    "!pip install a >",
    "%pip install ;",
};

static void test_the_packages_of_a_line_are_taken_and_the_line_is_not_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
        const char *code = taken[i].code;
        struct error err = ERROR_INIT;
        struct code_cleaning cleaned;
        AUTO_JSON json_t *packages = NULL;
        AUTO_FREE char *text = NULL;

        assert_int_equal(pip_lines_read(code, strlen(code), &packages, &err), 0);
        assert_int_equal(packages != NULL, taken[i].packages != NULL);
        if (!packages)
            continue;
        text = json_dumps(packages, 0);
        assert_string_equal(text, taken[i].packages);
        code_cleaning_do(&cleaned, code, strlen(code));
        code_cleaning_take_packages(&cleaned);
        if (taken[i].rest)
            assert_string_equal(cleaned.text, taken[i].rest);
        code_cleaning_deinit(&cleaned);
    }
}

static void test_a_line_that_is_not_only_about_packages_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        AUTO_FREE char *code = memory_format("x = 1\n%s\n", refused[i]);
        struct error err = ERROR_INIT;
        json_t *packages;

        if (pip_lines_read(code, strlen(code), &packages, &err) != -1)
            fail_msg("%s", code);
        assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
        assert_non_null(strstr(err.message, "line 2 may only name packages"));
        assert_null(packages);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_packages_of_a_line_are_taken_and_the_line_is_not_run),
        cmocka_unit_test(test_a_line_that_is_not_only_about_packages_is_refused),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
