/* Requirements files, line by line, and what becomes of lists of packages. */
#include "environments/packages/requirements.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "tests/unit/environments/impostor.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HASH "--hash=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *file;
    const char *understood;
} files[] = {
    {"", ""},
    {"\n\n  \n", ""},
    {"numpy", "numpy\n"},
    {"numpy\npandas\n", "numpy\npandas\n"},
    {"numpy\r\npandas\r\n", "numpy\npandas\n"},
    {"\xEF\xBB\xBFnumpy\n", "numpy\n"},
    {"# what is needed\n  # and why\nnumpy # fast\n", "numpy\n"},
    {"numpy \\\n  >= 1 \\\n  , < 3\npandas", "numpy>=1,<3\npandas\n"},
    {"numpy==1 \\\r\n    " HASH " \\\r\n    " HASH "\r\n", "numpy==1 " HASH " " HASH "\n"},
    {"numpy \\", "numpy\n"},
    {"numpy \\\n# the end \\\npandas\n", "numpy\npandas\n"},
    {"# goes not on \\\nnumpy\n", "numpy\n"},
    {"numpy\na", "numpy\na\n"},
};

static void test_files_are_read_as_installers_read_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        struct requirements requirements = {0};
        struct error err = ERROR_INIT;
        AUTO_FREE char *text = NULL;

        if (requirements_add_text(&requirements, files[i].file, strlen(files[i].file), &err) < 0)
            fail_msg("%s: %s", files[i].file, err.message);
        text = requirements_text(&requirements);
        assert_string_equal(text, files[i].understood);
        requirements_deinit(&requirements);
    }
}

static const struct {
    const char *file;
    const char *message;
} faults[] = {
    {"numpy\n\n-r other.txt\n", "line 3: options are not taken"},
    {"numpy \\\n  >= 1\n../x\n", "line 3: paths are not taken"},
    {"# one\nnumpy \\\n  @ x\n", "line 2: URLs behind"},
    {"numpy\n\\\n-e x\n", "line 2: options are not taken"},
    {"a#b\n", "line 1: there is something behind"},
};

static void test_an_error_names_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
        struct requirements requirements = {0};
        struct error err = ERROR_INIT;

        assert_int_equal(
            requirements_add_text(&requirements, faults[i].file, strlen(faults[i].file), &err), -1);
        if (strncmp(err.message, faults[i].message, strlen(faults[i].message)) != 0)
            fail_msg("%s: %s", faults[i].file, err.message);
        requirements_deinit(&requirements);
    }
}

static void test_an_error_names_the_file(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/requirements.txt", scratch);
    AUTO_FREE char *expected = memory_format("%s: line 1: options", path);
    AUTO_FREE char *missing = memory_format("cannot open %s: No such file or directory", path);
    struct requirements requirements = {0};
    struct error err = ERROR_INIT;
    struct error second = ERROR_INIT;

    (void)state;
    assert_int_equal(requirements_add_file(&requirements, path, &err), -1);
    assert_string_equal(err.message, missing);
    write_text(path, "-e .\n");
    assert_int_equal(requirements_add_file(&requirements, path, &second), -1);
    assert_memory_equal(second.message, expected, strlen(expected));
    scratch_free(scratch);
}

static void test_what_is_no_file_is_refused(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/requirements.txt", scratch);
    AUTO_FREE char *target = memory_format("%s/target", scratch);

    (void)state;
    write_text(target, "numpy\n");
    for (unsigned i = 0; i < IMPOSTORS; i++) {
        const char *name = impostor_put(i, path, target);
        struct requirements requirements = {0};
        struct error err = ERROR_INIT;

        if (requirements_add_file(&requirements, path, &err) == 0)
            fail_msg("%s was read", name);
        assert_non_null(strstr(err.message, path));
        impostor_remove(path);
    }
    scratch_free(scratch);
}

static void test_a_link_on_the_way_to_a_file_is_refused(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/link/requirements.txt", scratch);
    struct requirements requirements = {0};
    struct error err = ERROR_INIT;

    (void)state;
    shell(scratch, "mkdir elsewhere; echo numpy >elsewhere/requirements.txt; ln -s elsewhere link");
    assert_int_equal(requirements_add_file(&requirements, path, &err), -1);
    scratch_free(scratch);
}

static void test_a_file_that_is_too_large_is_refused(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/requirements.txt", scratch);
    AUTO_FREE char *text = memory_new(REQUIREMENTS_FILE_BYTES + 2, 1);
    struct requirements requirements = {0};
    struct error err = ERROR_INIT;

    (void)state;
    memset(text, '\n', REQUIREMENTS_FILE_BYTES + 1);
    write_text(path, text);
    assert_int_equal(requirements_add_file(&requirements, path, &err), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    write_text(path, text + 1);
    err = (struct error)ERROR_INIT;
    assert_int_equal(requirements_add_file(&requirements, path, &err), 0);
    scratch_free(scratch);
}

static void test_the_number_of_packages_is_limited(void **state)
{
    AUTO_FREE char *text = memory_new((size_t)2 * (REQUIREMENTS_MOST + 1) + 1, 1);
    struct requirements requirements = {0};
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i <= REQUIREMENTS_MOST; i++)
        memcpy(text + 2 * i, "a\n", 2);
    assert_int_equal(requirements_add_text(&requirements, text, strlen(text), &err), -1);
    assert_string_equal(err.message, "line 10001: these are more than 10000 packages");
    requirements_deinit(&requirements);
}

static void add(struct requirements *requirements, const char *packages)
{
    AUTO_JSON json_t *array = json_loads(packages, 0, NULL);
    struct error err = ERROR_INIT;

    if (requirements_add_packages(requirements, array, &err) < 0)
        fail_msg("%s: %s", packages, err.message);
}

static const struct {
    const char *packages;
    const char *names;
} lists[] = {
    {"[]", ""},
    {"[\"numpy>=1\"]", "numpy"},
    {"[\"a\", \"b\", \"c\", \"d\"]", "a, b, c, d"},
    {"[\"a\", \"b\", \"c\", \"d\", \"e\"]", "a, b, c and 2 more"},
    {"[\"abcdefghijklmnopqrstuvwxyz0123456789\"]", "abcdefghijklmnopqrstuvwxyz0123"},
};

static void test_names_for_people(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        struct requirements requirements = {0};
        AUTO_FREE char *names = NULL;

        add(&requirements, lists[i].packages);
        names = requirements_names(&requirements);
        assert_string_equal(names, lists[i].names);
        requirements_deinit(&requirements);
    }
}

static void test_a_package_that_is_none_is_told_with_its_place(void **state)
{
    AUTO_JSON json_t *array = json_loads("[\"numpy\", \"../x\"]", 0, NULL);
    struct requirements requirements = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(requirements_add_packages(&requirements, array, &err), -1);
    assert_string_equal(err.message, "package 2: paths are not taken, only packages by name");
    requirements_deinit(&requirements);
}

static const struct {
    const char *packages;
    const char *without; /* NULL: fits together */
    bool has_hashes;
} hashed[] = {
    {"[]", NULL, false},
    {"[\"a\", \"b\"]", NULL, false},
    {"[\"a " HASH "\", \"b " HASH "\"]", NULL, true},
    {"[\"a " HASH "\", \"b\"]", "b has no --hash", true},
    {"[\"a\", \"b\", \"c " HASH "\"]", "a has no --hash", false},
};

static void test_all_packages_have_hashes_or_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(hashed); i++) {
        struct requirements requirements = {0};
        struct error err = ERROR_INIT;
        int expected = hashed[i].without ? -1 : 0;

        add(&requirements, hashed[i].packages);
        assert_int_equal(requirements_have_hashes(&requirements), hashed[i].has_hashes);
        assert_int_equal(requirements_check_hashes(&requirements, &err), expected);
        if (hashed[i].without)
            assert_memory_equal(err.message, hashed[i].without, strlen(hashed[i].without));
        requirements_deinit(&requirements);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_read_as_installers_read_them),
        cmocka_unit_test(test_an_error_names_the_line),
        cmocka_unit_test(test_an_error_names_the_file),
        cmocka_unit_test(test_what_is_no_file_is_refused),
        cmocka_unit_test(test_a_link_on_the_way_to_a_file_is_refused),
        cmocka_unit_test(test_a_file_that_is_too_large_is_refused),
        cmocka_unit_test(test_the_number_of_packages_is_limited),
        cmocka_unit_test(test_names_for_people),
        cmocka_unit_test(test_a_package_that_is_none_is_told_with_its_place),
        cmocka_unit_test(test_all_packages_have_hashes_or_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
