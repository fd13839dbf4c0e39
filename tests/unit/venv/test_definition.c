#include "environments/venv/definition.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_what_a_definition_says_counts(void **state)
{
    AUTO_JSON json_t *json =
        json_pack("{s:s, s:s, s:s, s:b, s:[s]}", "venv_path", "/v", "python_path", "/p",
                  "python_version", "3.11", "system_site_packages", 1, "pip_packages", "numpy");
    const struct venv_definition definition = venv_definition_read(json);

    (void)state;
    assert_string_equal(definition.venv_path, "/v");
    assert_string_equal(definition.python_path, "/p");
    assert_string_equal(definition.python_version, "3.11");
    assert_true(definition.system_site_packages);
    assert_true(packages_definition_names_any(&definition.packages));
}

static void test_a_slash_at_the_end_of_the_path_makes_no_other_venv(void **state)
{
    const struct venv_definition long_form = {.venv_path = "/srv/lab//"};
    const struct venv_definition short_form = {.venv_path = "/srv/lab"};
    const struct venv_packages none = {0};
    AUTO_FREE char *path = venv_definition_path(&long_form);
    AUTO_FREE char *long_key = venv_definition_key(&long_form, &none);
    AUTO_FREE char *short_key = venv_definition_key(&short_form, &none);

    (void)state;
    assert_string_equal(path, "/srv/lab");
    assert_string_equal(long_key, short_key);
}

/* It is removed earlier. */
static void test_what_extends_an_environment_is_another_venv(void **state)
{
    const struct venv_packages none = {0};
    AUTO_FREE char *own = venv_definition_key(&(struct venv_definition){0}, &none);
    AUTO_FREE char *extension =
        venv_definition_key(&(struct venv_definition){.extends = true}, &none);

    (void)state;
    assert_string_not_equal(own, extension);
}

/* A venv whose packages are shown may be made anew, from another Python. */
static void test_another_python_at_the_same_path_makes_another_venv(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *python = memory_format("%s/python", scratch);
    const struct venv_definition shows = {.python_path = python, .system_site_packages = true};
    const struct venv_packages none = {0};
    AUTO_FREE char *first = NULL;
    AUTO_FREE char *again = NULL;
    AUTO_FREE char *other = NULL;

    (void)state;
    shell(scratch, "touch one two; ln -s one python");
    first = venv_definition_key(&shows, &none);
    again = venv_definition_key(&shows, &none);
    shell(scratch, "ln -sf two python");
    other = venv_definition_key(&shows, &none);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    scratch_free(scratch);
}

/* The same with a venv that is made anew and shows more, or less. */
static void test_a_python_that_shows_other_packages_makes_another_venv(void **state)
{
    static const char *const changes[] = {"touch venv/bin/python", "touch venv/pyvenv.cfg",
                                          "echo include-system-site-packages=no >venv/pyvenv.cfg"};
    char *scratch = scratch_new();
    AUTO_FREE char *python = memory_format("%s/venv/bin/python", scratch);
    const struct venv_definition shows = {.python_path = python, .system_site_packages = true};
    const struct venv_packages none = {0};
    char *keys[ARRAY_SIZE(changes)];

    (void)state;
    shell(scratch, "mkdir -p venv/bin");
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        shell(scratch, changes[i]);
        keys[i] = venv_definition_key(&shows, &none);
        assert_true(i == 0 || strcmp(keys[i], keys[i - 1]) != 0);
    }
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
        free(keys[i]);
    scratch_free(scratch);
}

static void test_a_venv_of_ours_has_no_path(void **state)
{
    (void)state;
    assert_null(venv_definition_path(&(struct venv_definition){0}));
}

static void test_what_no_schema_finds_names_the_key_to_blame(void **state)
{
    AUTO_JSON json_t *mixed = json_pack("[s, s]", "numpy", "pandas --hash=sha256:00");
    AUTO_JSON json_t *plain = json_pack("[s, s]", "numpy", "pandas");
    const struct venv_definition wrong = {.packages.pip_packages = mixed};
    const struct venv_definition right = {.packages.pip_packages = plain};
    struct error err = ERROR_INIT;
    const char *key = NULL;

    (void)state;
    assert_int_equal(venv_definition_check(&right, &key, &err), 0);
    assert_null(key);
    assert_int_equal(venv_definition_check(&wrong, &key, &err), -1);
    assert_string_equal(key, "pip_packages");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_definition_says_counts),
        cmocka_unit_test(test_a_slash_at_the_end_of_the_path_makes_no_other_venv),
        cmocka_unit_test(test_what_extends_an_environment_is_another_venv),
        cmocka_unit_test(test_another_python_at_the_same_path_makes_another_venv),
        cmocka_unit_test(test_a_python_that_shows_other_packages_makes_another_venv),
        cmocka_unit_test(test_a_venv_of_ours_has_no_path),
        cmocka_unit_test(test_what_no_schema_finds_names_the_key_to_blame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
