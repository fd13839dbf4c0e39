/* What is guessed of programs that may be a Python, in a real file system. */
#include "environments/interpreter/python_guess.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state)
{
    *state = scratch_new();
    return 0;
}

static int teardown(void **state)
{
    scratch_free(*state);
    return 0;
}

/* Makes SCRATCH/NAME, a program, of TEXT. Owned by the caller. */
static char *program(const char *scratch, const char *name, const char *text)
{
    AUTO_FREE char *directory = memory_format("mkdir -p \"$(dirname %s)\"", name);
    char *path = memory_format("%s/%s", scratch, name);

    shell(scratch, directory);
    write_text(path, text);
    assert_int_equal(chmod(path, S_IRWXU), 0);
    return path;
}

/* True when PATHS (taken) have SCRATCH/NAME. */
static bool have(char **paths, const char *scratch, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", scratch, name);
    bool found = false;

    for (char **each = paths; *each; each++)
        found = found || strcmp(*each, path) == 0;
    memory_free_strings(paths);
    return found;
}

static void test_a_program_has_its_prefix_and_that_of_what_it_leads_to(void **state)
{
    AUTO_FREE char *real = program(*state, "real/bin/python3", "\177ELF");
    AUTO_FREE char *link = memory_format("%s/link/bin/python3", (char *)*state);

    shell(*state, "mkdir -p link/bin");
    assert_int_equal(symlink(real, link), 0);
    assert_true(have(python_guess_places(link), *state, "link"));
    assert_true(have(python_guess_places(link), *state, "real"));
    assert_true(have(python_guess_places(link), *state, "real/lib"));
    assert_false(have(python_guess_places(real), *state, "link"));
}

static void test_a_virtual_environment_names_its_python(void **state)
{
    AUTO_FREE char *python = program(*state, "venv/bin/python", "\177ELF");
    AUTO_FREE char *configuration = memory_format("%s/venv/pyvenv.cfg", (char *)*state);
    AUTO_FREE char *text = memory_format("home = %s/base/bin\nversion = 3\n", (char *)*state);

    write_text(configuration, text);
    assert_true(have(python_guess_places(python), *state, "base"));
}

static void test_a_script_names_the_program_that_it_starts(void **state)
{
    AUTO_FREE char *real = program(*state, "real/bin/python3", "\177ELF");
    AUTO_FREE char *text =
        memory_format("#!/bin/sh\nexec %s \"$@\" %s/secret\n", real, (char *)*state);
    AUTO_FREE char *script = program(*state, "bin/python3", text);
    AUTO_FREE char *binary = program(*state, "other/python3", text + 2);
    AUTO_FREE char *secret = memory_format("%s/secret", (char *)*state);

    write_text(secret, "no program");
    assert_true(have(python_guess_places(script), *state, "real"));
    assert_true(have(python_guess_files(script), *state, "real/bin/python3"));
    assert_false(have(python_guess_files(script), *state, "secret"));
    assert_false(have(python_guess_files(binary), *state, "real/bin/python3"));
}

static const struct {
    const char *text;
    const char *paths; /* separated by spaces */
} named[] = {
    {"", ""},
    {"#!/bin/sh\nexec \"/opt/py/bin/python3\" \"$@\"\n", "/opt/py/bin/python3"},
    {"[global]\nfind-links = /srv/wheels\n  file:///mnt/more\ncert=/etc/ca.pem\n",
     "/srv/wheels /mnt/more /etc/ca.pem"},
    {"find-links = [\"/a\", '/b']", "/a /b"},
    {"gadget @ file:///srv/gadget.whl#sha256=ab", "/srv/gadget.whl"},
    {"page = https://mirror/page", ""},
    {"extra = //mirror/simple file://host/simple / relative/path", ""},
};

static void test_paths_are_found_in_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
        char **paths = python_guess_named(named[i].text);
        char *found = memory_copy_string("");

        for (size_t j = 0; paths[j]; j++) {
            char *before = found;

            found = memory_format("%s%s%s", before, j ? " " : "", paths[j]);
            free(before);
        }
        assert_string_equal(found, named[i].paths);
        free(found);
        memory_free_strings(paths);
    }
}

static void test_there_is_a_most_of_paths_in_a_text(void **state)
{
    char text[3 * 2 * PYTHON_GUESS_NAMED_MOST + 1] = "";
    char **paths;
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < 2 * (size_t)PYTHON_GUESS_NAMED_MOST; i++)
        memcpy(text + 3 * i, "/a ", 3);
    paths = python_guess_named(text);
    while (paths[count])
        count++;
    assert_int_equal(count, PYTHON_GUESS_NAMED_MOST);
    memory_free_strings(paths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_program_has_its_prefix_and_that_of_what_it_leads_to,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_virtual_environment_names_its_python, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_script_names_the_program_that_it_starts, setup,
                                        teardown),
        cmocka_unit_test(test_paths_are_found_in_texts),
        cmocka_unit_test(test_there_is_a_most_of_paths_in_a_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
