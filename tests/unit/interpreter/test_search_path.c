/* Which of several programs of one name is taken. */
#include "environments/interpreter/search_path.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MAKE_PROGRAMS                                                                              \
    "for folder in own/bin a b; do mkdir -p $folder; touch $folder/python3; "                      \
    "chmod +x $folder/python3; done; touch own/pyvenv.cfg; ln -s own linked; mkdir c"

static int setup(void **state)
{
    char *scratch = scratch_new();

    shell(scratch, "PATH=/usr/bin:/bin; " MAKE_PROGRAMS);
    *state = scratch;
    return 0;
}

static int teardown(void **state)
{
    setenv("PATH", "/usr/bin:/bin", 1);
    scratch_free(*state);
    return 0;
}

/* Sets PATH to FOLDERS of SCRATCH, separated by spaces. */
static void set_path(const char *scratch, const char *folders)
{
    char *path = memory_copy_string("");

    while (*folders) {
        int length = (int)strcspn(folders, " ");
        char *before = path;

        path = memory_format("%s%s%s/%.*s", before, *before ? ":" : "", scratch, length, folders);
        free(before);
        folders += length + (folders[length] == ' ');
    }
    setenv("PATH", path, 1);
    free(path);
}

static const struct {
    const char *path;
    size_t position;
    const char *last;
    const char *found; /* NULL: nothing */
} searches[] = {
    {"a b", 0, NULL, "a/python3"},
    {"a b", 1, NULL, "b/python3"},
    {"a b", 2, NULL, NULL},
    {"c b", 0, NULL, "b/python3"},
    {"own/bin a b", 0, NULL, "own/bin/python3"},
    {"own/bin a b", 0, "own/bin", "a/python3"},
    {"own/bin a b", 1, "own/bin", "b/python3"},
    {"own/bin a b", 2, "own/bin", "own/bin/python3"},
    {"own/bin a b", 3, "own/bin", NULL},
    {"linked/bin a", 0, "own/bin", "a/python3"},
    {"own/bin c", 0, "own/bin", "own/bin/python3"},
    {"a", 1, "own/bin", "own/bin/python3"},
    {"c", 0, "c", NULL},
};

static void test_the_last_directory_is_searched_last(void **state)
{
    const char *scratch = *state;

    for (size_t i = 0; i < ARRAY_SIZE(searches); i++) {
        AUTO_FREE char *last =
            searches[i].last ? memory_format("%s/%s", scratch, searches[i].last) : NULL;
        AUTO_FREE char *expected =
            searches[i].found ? memory_format("%s/%s", scratch, searches[i].found) : NULL;
        AUTO_FREE char *found = NULL;

        set_path(scratch, searches[i].path);
        found = search_path_find_with_last("python3", searches[i].position, last);
        if (!expected != !found || (found && strcmp(found, expected) != 0))
            fail_msg("%zu: %s", i, found ? found : "nothing");
    }
}

static const struct {
    const char *program;
    const char *active; /* or NULL */
    const char *directory;
} programs[] = {
    {"own/bin/pyexecd", NULL, "own/bin"},      {"own/bin/pyexecd", "a", "own/bin"},
    {"own/bin/pyexecd", "nowhere", "own/bin"}, {"own/bin/pyexecd", "own", NULL},
    {"own/bin/pyexecd", "linked", NULL},       {"a/pyexecd", NULL, NULL},
};

static void test_an_environment_is_the_programs_own_unless_it_is_activated(void **state)
{
    const char *scratch = *state;

    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        AUTO_FREE char *program = memory_format("%s/%s", scratch, programs[i].program);
        AUTO_FREE char *active =
            programs[i].active ? memory_format("%s/%s", scratch, programs[i].active) : NULL;
        AUTO_FREE char *expected =
            programs[i].directory ? memory_format("%s/%s", scratch, programs[i].directory) : NULL;
        AUTO_FREE char *found = search_path_own_directory(program, active);

        if (!expected != !found || (found && strcmp(found, expected) != 0))
            fail_msg("%zu: %s", i, found ? found : "nothing");
    }
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

static void test_what_lies_in_a_directory_is_passed_over(void **state)
{
    const char *scratch = *state;
    AUTO_FREE char *own = memory_format("%s/own", scratch);
    AUTO_FREE char *found = NULL;
    AUTO_FREE char *rest = NULL;
    AUTO_FREE char *expected = memory_format("%s/b/python3", scratch);
    AUTO_FREE char *expected_rest = memory_format("%s/a:%s/b", scratch, scratch);

    shell(scratch, "ln -sf ../own/bin/python3 a/python3; ln -s own/bin programs");
    set_path(scratch, "own/bin linked/bin programs a b");
    found = search_path_find_outside("python3", own, NULL);
    assert_string_equal(found, expected);
    rest = search_path_without(own, NULL);
    assert_string_equal(rest, expected_rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_last_directory_is_searched_last),
        TEST(test_an_environment_is_the_programs_own_unless_it_is_activated),
        TEST(test_what_lies_in_a_directory_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
