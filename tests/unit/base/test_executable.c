#include "base/executable.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/base/own_directory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* Makes FOLDER in the directory of the test, with a file "tool" of MODE. Its path, owned by the
 * caller. */
static char *folder_with_tool(const char *directory, const char *folder, mode_t mode)
{
    char *path = memory_format("%s/%s", directory, folder);
    AUTO_FREE char *file = memory_format("%s/tool", path);
    AUTO_CLOSE int fd = -1;

    assert_int_equal(mkdir(path, 0700), 0);
    fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    return path;
}

static void check_search(const char *path, const char *name, const char *folder)
{
    AUTO_FREE char *found = executable_find(path, name);
    AUTO_FREE char *expected = folder ? memory_format("%s/%s", folder, name) : NULL;

    if (expected)
        assert_string_equal(found, expected);
    else
        assert_null(found);
}

static void test_the_first_folder_that_has_it_counts(void **state)
{
    AUTO_FREE char *first = folder_with_tool(*state, "first", 0700);
    AUTO_FREE char *second = folder_with_tool(*state, "second", 0700);
    AUTO_FREE char *both = memory_format("/none:%s:%s", first, second);

    check_search(both, "tool", first);
    check_search(second, "tool", second);
    check_search(both, "too", NULL);
    check_search("", "tool", NULL);
}

static void test_what_may_not_be_executed_is_passed_over(void **state)
{
    AUTO_FREE char *data = folder_with_tool(*state, "data", 0600);
    AUTO_FREE char *programs = folder_with_tool(*state, "programs", 0700);
    AUTO_FREE char *both = memory_format("%s:%s", data, programs);

    check_search(both, "tool", programs);
    check_search(data, "tool", NULL);
}

/* Also the empty ones, which shells take for the current folder. */
static void test_relative_folders_are_passed_over(void **state)
{
    AUTO_FREE char *folder = folder_with_tool(*state, "folder", 0700);
    AUTO_FREE char *path = memory_format("folder::.:%s", folder);

    assert_int_equal(chdir(*state), 0);
    check_search("folder", "tool", NULL);
    assert_int_equal(chdir(folder), 0);
    check_search(":.", "tool", NULL);
    check_search(path, "tool", folder);
    assert_int_equal(chdir("/"), 0);
}

static void test_an_absolute_name_is_the_file(void **state)
{
    AUTO_FREE char *found = executable_find(*state, "/no/such/tool");

    assert_string_equal(found, "/no/such/tool");
}

#define IN_ITS_DIRECTORY(NAME)                                                                     \
    cmocka_unit_test_setup_teardown(NAME, own_directory_make, own_directory_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ITS_DIRECTORY(test_the_first_folder_that_has_it_counts),
        IN_ITS_DIRECTORY(test_what_may_not_be_executed_is_passed_over),
        IN_ITS_DIRECTORY(test_relative_folders_are_passed_over),
        IN_ITS_DIRECTORY(test_an_absolute_name_is_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
