#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/notebook/jupyter/spec.h"
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

static void that_of_the_environment_comes_before_that_of_the_user(void **state)
{
    AUTO_FREE char *python = memory_format("%s/venv/bin/python", (char *)*state);
    const struct jupyter_search search = {.interpreter = python, .home = *state};
    struct jupyter_spec spec;
    struct error err = ERROR_INIT;
    char **command;

    install(*state, ".local/share/jupyter", "k", "{\"argv\": [\"of-user\"]}");
    install(*state, "venv/share/jupyter", "k",
            "{\"argv\": [\"python\", \"-f\", \"{connection_file}\", \"{resource_dir}/x\"],"
            " \"interrupt_mode\": \"message\", \"env\": {\"A\": \"b\"}}");
    assert_int_equal(jupyter_spec_find(&spec, &search, "k", &err), 0);
    command = jupyter_spec_command(&spec, python, "/c.json");
    assert_string_equal(command[0], python);
    assert_string_equal(command[2], "/c.json");
    assert_non_null(strstr(command[3], "/venv/share/jupyter/kernels/k/x"));
    assert_null(command[4]);
    assert_true(spec.takes_messages);
    assert_string_equal(json_string_value(json_object_get(spec.variables, "A")), "b");
    memory_free_strings(command);
    jupyter_spec_deinit(&spec);
}

static void jupyter_path_comes_first(void **state)
{
    AUTO_FREE char *path = memory_format("/nowhere::%s/first", (char *)*state);
    AUTO_FREE char *python = memory_format("%s/venv/bin/python", (char *)*state);
    const struct jupyter_search search = {.interpreter = python, .path = path};
    struct jupyter_spec spec;
    struct error err = ERROR_INIT;

    install(*state, "first", "k", "{\"argv\": [\"first\"]}");
    install(*state, "venv/share/jupyter", "k", "{\"argv\": [\"second\"]}");
    assert_int_equal(jupyter_spec_find(&spec, &search, "k", &err), 0);
    assert_string_equal(spec.arguments[0], "first");
    assert_false(spec.takes_messages);
    jupyter_spec_deinit(&spec);
}

static void one_that_is_not_there_is_told_with_those_that_are(void **state)
{
    AUTO_FREE char *python = memory_format("%s/venv/bin/python", (char *)*state);
    const struct jupyter_search search = {.interpreter = python};
    struct jupyter_spec spec;
    struct error err = ERROR_INIT;

    install(*state, "venv/share/jupyter", "other", "{\"argv\": [\"x\"]}");
    assert_int_equal(jupyter_spec_find(&spec, &search, "k", &err), -1);
    assert_non_null(strstr(err.message, "no Jupyter kernel \"k\""));
    assert_non_null(strstr(err.message, "other"));
    jupyter_spec_deinit(&spec);
}

static void a_file_that_makes_no_sense_is_an_error(void **state)
{
    static const char *const wrong[] = {
        "", "[]", "{}", "{\"argv\": []}", "{\"argv\": [1]}", "{\"argv\": \"x\"}"};
    AUTO_FREE char *python = memory_format("%s/venv/bin/python", (char *)*state);
    const struct jupyter_search search = {.interpreter = python};

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct jupyter_spec spec;
        struct error err = ERROR_INIT;

        install(*state, "venv/share/jupyter", "k", wrong[i]);
        assert_int_equal(jupyter_spec_find(&spec, &search, "k", &err), -1);
        assert_non_null(strstr(err.message, "argv"));
        jupyter_spec_deinit(&spec);
    }
}

/* A program that is called otherwise is found on PATH, or has a path. */
static void only_a_python_without_a_path_is_replaced(void **state)
{
    static const char *const programs[][2] = {{"python", "/v/bin/python"},
                                              {"python3.11", "/v/bin/python"},
                                              {"/usr/bin/python3", "/usr/bin/python3"},
                                              {"pythonic", "pythonic"},
                                              {"R", "R"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        char *arguments[] = {(char *)programs[i][0], NULL};
        const struct jupyter_spec spec = {.arguments = arguments, .directory = arguments[0]};
        char **command = jupyter_spec_command(&spec, "/v/bin/python", "c");

        assert_string_equal(command[0], programs[i][1]);
        memory_free_strings(command);
    }
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, make_scratch, remove_scratch)
    const struct CMUnitTest tests[] = {
        TEST(that_of_the_environment_comes_before_that_of_the_user),
        TEST(jupyter_path_comes_first),
        TEST(one_that_is_not_there_is_told_with_those_that_are),
        TEST(a_file_that_makes_no_sense_is_an_error),
        TEST(only_a_python_without_a_path_is_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
