/* Pythons of a version, in the places where tools keep them: here wrappers that pass for one. */
#include "environments/interpreter/python_finder.h"

#include "base/cleanup.h"
#include "base/list.h"
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
#include <sys/stat.h>

#define TOOLS "PATH=/usr/bin:/bin; " /* for what the tests themselves need */

struct search {
    struct python_finder finder;
    bool is_done;
    bool has_failed;
    struct error err;
};

static void on_done(struct python_finder *finder, const struct error *err)
{
    struct search *search = CONTAINER_OF(finder, struct search, finder);

    assert_false(search->is_done);
    search->is_done = true;
    search->has_failed = err != NULL;
    if (err)
        error_copy(&search->err, err);
}

static int setup(void **state)
{
    static const char *const variables[] = {"PYENV_ROOT",    "ASDF_DATA_DIR",
                                            "MISE_DATA_DIR", "XDG_DATA_HOME",
                                            "CONDA_PREFIX",  "UV_PYTHON_INSTALL_DIR"};
    struct workbench *bench;

    workbench_setup(state);
    bench = *state;
    for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
        unsetenv(variables[i]);
    setenv("HOME", bench->scratch, 1);
    setenv("PATH", "/nowhere", 1);
    return 0;
}

static int teardown(void **state)
{
    setenv("PATH", "/usr/bin:/bin", 1);
    return workbench_teardown(state);
}

/* Something at FOLDER/NAME in the scratch directory that answers as Python VERSION. */
static char *make_python(struct workbench *bench, const char *folder, const char *name,
                         const char *version)
{
    AUTO_FREE char *command = memory_format(TOOLS "mkdir -p '%s'", folder);
    AUTO_FREE char *inside = memory_format("%s/%s", folder, name);
    AUTO_FREE char *path = memory_format("%s/%s", bench->scratch, inside);
    AUTO_FREE char *text =
        memory_format("#!/bin/sh\nprintf 'python\\0%%s\\000%s\\0/prefix\\0' \"$0\"\n", version);

    shell(bench->scratch, command);
    free(workbench_program(bench, inside, text));
    return STEAL_PTR(path);
}

static void find(struct workbench *bench, struct search *search, const char *version)
{
    *search = (struct search){0};
    python_finder_init(&search->finder, bench->loop, bench->host, version);
    search->finder.done = on_done;
    python_finder_start(&search->finder);
    assert_false(search->is_done);
    workbench_wait(bench, &search->is_done);
}

static const char *const places[] = {
    ".pyenv/versions/3.77.5/bin",
    ".asdf/installs/python/3.77.5/bin",
    ".local/share/mise/installs/python/3.77.5/bin",
    ".local/share/uv/python/cpython-3.77.5-linux-x86_64-gnu/bin",
    "miniconda3/bin",
    "anaconda3/envs/science/bin",
    "miniforge3/envs/science/bin",
};

static void test_every_tool_has_its_place(void **state)
{
    struct workbench *bench = *state;

    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        AUTO_FREE char *path = make_python(bench, places[i], "python3", "3.77.5");
        struct search search;

        find(bench, &search, "3.77");
        if (search.has_failed)
            fail_msg("%s: %s", places[i], search.err.message);
        assert_string_equal(search.finder.interpreter.executable, path);
        assert_string_equal(search.finder.interpreter.version, "3.77.5");
        python_finder_deinit(&search.finder);
        shell(bench->scratch, TOOLS "rm -rf .pyenv .asdf .local miniconda3 anaconda3 miniforge3");
    }
}

static const struct {
    const char *variable;
    const char *place;
} moved[] = {
    {"PYENV_ROOT", "versions/x/bin"},           {"ASDF_DATA_DIR", "installs/python/x/bin"},
    {"MISE_DATA_DIR", "installs/python/x/bin"}, {"UV_PYTHON_INSTALL_DIR", "x/bin"},
    {"XDG_DATA_HOME", "uv/python/x/bin"},       {"CONDA_PREFIX", "bin"},
};

static void test_a_variable_says_where_a_tool_is(void **state)
{
    struct workbench *bench = *state;

    for (size_t i = 0; i < ARRAY_SIZE(moved); i++) {
        AUTO_FREE char *root = memory_format("%s/moved", bench->scratch);
        AUTO_FREE char *place = memory_format("moved/%s", moved[i].place);
        struct search search;

        free(make_python(bench, place, "python3", "3.77.5"));
        setenv(moved[i].variable, root, 1);
        find(bench, &search, "3.77.5");
        unsetenv(moved[i].variable);
        if (search.has_failed)
            fail_msg("%s: %s", moved[i].variable, search.err.message);
        python_finder_deinit(&search.finder);
        shell(bench->scratch, TOOLS "rm -rf moved");
    }
}

static void test_path_comes_first_and_the_exact_name(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *kept = make_python(bench, ".pyenv/versions/3.77.9/bin", "python3", "3.77.9");
    AUTO_FREE char *plain = make_python(bench, "a", "python3", "3.77.1");
    AUTO_FREE char *exact = make_python(bench, "b", "python3.77", "3.77.2");
    AUTO_FREE char *path = memory_format("%s/a:%s/b", bench->scratch, bench->scratch);
    struct search search;

    setenv("PATH", path, 1);
    find(bench, &search, "3.77");
    assert_string_equal(search.finder.interpreter.executable, exact);
    python_finder_deinit(&search.finder);
    find(bench, &search, "3.77.1");
    assert_string_equal(search.finder.interpreter.executable, plain);
    python_finder_deinit(&search.finder);
    find(bench, &search, "3.77.9");
    assert_string_equal(search.finder.interpreter.executable, kept);
    python_finder_deinit(&search.finder);
}

static void test_the_newest_that_fits_is_taken(void **state)
{
    struct workbench *bench = *state;
    static const char *const versions[] = {"3.77.9", "3.77.10", "3.8.1", "3.77.2"};
    struct search search;

    for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
        AUTO_FREE char *place = memory_format(".pyenv/versions/%s/bin", versions[i]);

        free(make_python(bench, place, "python3", versions[i]));
    }
    find(bench, &search, "3.77");
    assert_string_equal(search.finder.interpreter.version, "3.77.10");
    python_finder_deinit(&search.finder);
}

static void test_a_name_is_believed_only_when_it_was_run(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *kept = make_python(bench, ".pyenv/versions/3.77.1/bin", "python3", "3.77.1");
    AUTO_FREE char *path = memory_format("%s/a:%s", bench->scratch, bench->scratch);
    struct search search;

    free(make_python(bench, "a", "python3.77", "3.76.0")); /* a liar */
    free(workbench_program(bench, "python3.77", "#!/bin/sh\nexit 1\n"));
    setenv("PATH", path, 1);
    find(bench, &search, "3.77");
    assert_false(search.has_failed);
    assert_string_equal(search.finder.interpreter.executable, kept);
    python_finder_deinit(&search.finder);
}

static void test_when_there_is_none_the_others_are_listed(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *one = make_python(bench, ".pyenv/versions/3.77.1/bin", "python3", "3.77.1");
    AUTO_FREE char *two = make_python(bench, "a", "python3", "3.76.0");
    AUTO_FREE char *path = memory_format("%s/a", bench->scratch);
    AUTO_FREE char *first = memory_format("3.76.0 (%s)", two);
    AUTO_FREE char *second = memory_format("3.77.1 (%s)", one);
    struct search search;

    setenv("PATH", path, 1);
    find(bench, &search, "3.99");
    assert_true(search.has_failed);
    assert_int_equal(search.err.code, ERROR_UNAVAILABLE);
    assert_memory_equal(search.err.message, "there is no Python 3.99 on this machine; found: ", 48);
    assert_non_null(strstr(search.err.message, first));
    assert_non_null(strstr(search.err.message, second));
    python_finder_deinit(&search.finder);
}

static void test_one_that_is_cancelled_is_not_told(void **state)
{
    struct workbench *bench = *state;
    struct search search = {0};

    free(workbench_program(bench, "python3", "#!/bin/sh\n/bin/sleep 1000\n"));
    setenv("PATH", bench->scratch, 1);
    python_finder_init(&search.finder, bench->loop, bench->host, "3");
    search.finder.done = on_done;
    python_finder_start(&search.finder);
    ev_run(bench->loop, EVRUN_ONCE);
    python_finder_deinit(&search.finder);
    assert_false(search.is_done);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_tool_has_its_place),
        TEST(test_a_variable_says_where_a_tool_is),
        TEST(test_path_comes_first_and_the_exact_name),
        TEST(test_the_newest_that_fits_is_taken),
        TEST(test_a_name_is_believed_only_when_it_was_run),
        TEST(test_when_there_is_none_the_others_are_listed),
        TEST(test_one_that_is_cancelled_is_not_told),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
