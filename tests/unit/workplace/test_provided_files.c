#include "environments/workplace/provided_files.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/workplace/directory_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_a_path_is_shortened_or_refused(void **state)
{
    static const struct {
        const char *path;
        const char *expected; /* NULL: refused */
    } cases[] = {
        {"a", "a"},
        {"a/b/c", "a/b/c"},
        {"./a", "a"},
        {"a//b/./c", "a/b/c"},
        {"..a/b..", "..a/b.."},
        {"...", "..."},
        {"a b\n", "a b\n"},
        {"", NULL},
        {".", NULL},
        {"./", NULL},
        {"..", NULL},
        {"../a", NULL},
        {"a/..", NULL},
        {"a/../b", NULL},
        {"/", NULL},
        {"/a", NULL},
        {"//a", NULL},
        {"a/", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = ERROR_INIT;
        AUTO_FREE char *path = directory_file_path(cases[i].path, &err);

        if (cases[i].expected) {
            assert_non_null(path);
            assert_string_equal(path, cases[i].expected);
        } else {
            assert_null(path);
            assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
        }
    }
}

/* What is said of FILES (JSON text) where a run may make 10 bytes of new files; "" for nothing. */
static void assert_checked(const char *files, const char *expected)
{
    AUTO_JSON json_t *array = json_loads(files, JSON_ALLOW_NUL, NULL);
    struct error err = ERROR_INIT;

    assert_non_null(array);
    assert_int_equal(provided_files_check(array, 10, &err), *expected ? -1 : 0);
    assert_string_equal(err.message, expected);
}

static void test_files_are_checked_before_anything_is_written(void **state)
{
    (void)state;
    assert_checked("[]", "");
    assert_checked("[{\"path\":\"a\",\"text\":\"12345\"},{\"path\":\"b\",\"blob\":\"MTIzNDU=\"}]",
                   "");
    assert_checked("[{\"path\":\"a\",\"text\":\"123456\"},{\"path\":\"b\",\"blob\":\"MTIzNDU=\"}]",
                   "files: they are larger than the 10 bytes of new files that a run may make");
    assert_checked("[{\"path\":\"./script.py\",\"text\":\"\"}]",
                   "files: script.py is the program itself, the argument `code`; use another name");
    assert_checked("[{\"path\":\"a\\u0000b\",\"text\":\"\"}]",
                   "files: a path has no NUL character");
    assert_checked("[{\"path\":\"a\"}]", "files: a: give either text or blob");
    assert_checked("[{\"path\":\"a\",\"text\":\"\"},{\"path\":\"./a\",\"text\":\"\"}]",
                   "files: a is there twice");
}

/* Each is made in the same turn of the server's loop. */
static void test_files_lead_through_few_folders(void **state)
{
    AUTO_JSON json_t *files = json_array();
    struct error err = ERROR_INIT;

    (void)state;
    for (int i = 0; i < 50; i++)
        json_array_append_new(files, json_pack("{s:o, s:s}", "path",
                                               json_string_format("%d/2/3/4/5/6/7/8/9/10/f", i),
                                               "text", ""));
    assert_int_equal(provided_files_check(files, 10, &err), 0);
    json_array_append_new(files, json_pack("{s:s, s:s}", "path", "a/b", "text", ""));
    assert_int_equal(provided_files_check(files, 10, &err), -1);
    assert_string_equal(err.message, "files: their paths have more than 500 folders in all; use "
                                     "shorter paths");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_path_is_shortened_or_refused),
        cmocka_unit_test(test_files_are_checked_before_anything_is_written),
        cmocka_unit_test(test_files_lead_through_few_folders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
