#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/notebook/kernel_search.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A kernel NAME below PLACE of the scratch directory, whose file is TEXT. */
static void install(const char *scratch, const char *place, const char *name, const char *text)
{
    AUTO_FREE char *command = memory_format("mkdir -p %s/kernels/%s", place, name);
    AUTO_FREE char *path = memory_format("%s/%s/kernels/%s/kernel.json", scratch, place, name);

    shell(scratch, command);
    write_text(path, text);
}

static int make_scratch(void **state)
{
    char *scratch = scratch_new();

    *state = scratch;
    return 0;
}

static int remove_scratch(void **state)
{
    scratch_free(*state);
    return 0;
}

static void jupyter_path_comes_first(void **state)
{
    AUTO_FREE char *path = memory_format("/nowhere::%s/first", (char *)*state);
    AUTO_FREE char *python = memory_format("%s/venv/bin/python", (char *)*state);
    const struct kernel_search search = {.interpreter = python, .path = path};
    struct error err = ERROR_INIT;

    install(*state, "first", "k", "{\"argv\": [\"first\"]}");
    install(*state, "venv/share/jupyter", "k", "{}");
    assert_int_equal(kernel_search_find(&search, "k", &err), 0);
}

static void one_that_is_not_there_is_told_with_those_that_are(void **state)
{
    AUTO_FREE char *python = memory_format("%s/venv/bin/python", (char *)*state);
    const struct kernel_search search = {.interpreter = python};
    struct error err = ERROR_INIT;

    install(*state, "venv/share/jupyter", "other", "{\"argv\": [\"x\"]}");
    assert_int_equal(kernel_search_find(&search, "k", &err), -1);
    assert_non_null(strstr(err.message, "no Jupyter kernel \"k\""));
    assert_non_null(strstr(err.message, "other"));
}

static void a_file_that_makes_no_sense_is_an_error(void **state)
{
    static const char *const wrong[] = {
        "", "[]", "{}", "{\"argv\": []}", "{\"argv\": [1]}", "{\"argv\": \"x\"}"};
    AUTO_FREE char *python = memory_format("%s/venv/bin/python", (char *)*state);
    const struct kernel_search search = {.interpreter = python};

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct error err = ERROR_INIT;

        install(*state, "venv/share/jupyter", "k", wrong[i]);
        assert_int_equal(kernel_search_find(&search, "k", &err), -1);
        assert_non_null(strstr(err.message, "argv"));
    }
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, make_scratch, remove_scratch)
    const struct CMUnitTest tests[] = {
        TEST(jupyter_path_comes_first),
        TEST(one_that_is_not_there_is_told_with_those_that_are),
        TEST(a_file_that_makes_no_sense_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
