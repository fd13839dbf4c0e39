/* The paths of Pythons, walked in a real file system. */
#include "environments/interpreter/python_needs.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

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

/* Finds what the program bin/python in SCRATCH/PLACE needs, which says that it uses DIRECTORIES in
 * SCRATCH, and expects the SHOWN ones there; both lists are separated by spaces. */
static void expect(const char *scratch, const char *place, const char *directories,
                   const char *shown)
{
    AUTO_FREE char *executable = memory_format("%s/%s/bin/python", scratch, place);
    AUTO_FREE char *found = memory_copy_string("");
    AUTO_FREE char *copy = memory_copy_string(directories);
    char *used[8] = {NULL};
    size_t count = 0;
    char **needs;

    for (char *name = strtok(copy, " "); name; name = strtok(NULL, " "))
        used[count++] = memory_format("%s/%s", scratch, name);
    needs = python_needs_find(executable, (const char *const *)used, NULL);
    for (size_t i = 0; needs[i]; i++) {
        AUTO_FREE char *before = found;
        const bool is_inside = strncmp(needs[i], scratch, strlen(scratch)) == 0;

        found = memory_format("%s%s%s", before, i ? " " : "",
                              needs[i] + (is_inside ? strlen(scratch) + 1 : 0));
    }
    assert_string_equal(found, shown);
    memory_free_strings(needs);
    while (count > 0)
        free(used[--count]);
}

static void test_a_directory_that_is_there_is_needed(void **state)
{
    shell(*state, "mkdir -p python/bin python/lib file; touch python/bin/python file/f");
    expect(*state, "python", "python python/lib", "python");
    expect(*state, "python", "python file/f missing", "python");
    expect(*state, "python", "", "python/bin/python");
}

static void test_a_link_is_needed_with_what_it_leads_to(void **state)
{
    shell(*state, "mkdir -p real-3.12.1/bin links; touch real-3.12.1/bin/python3.12;"
                  "ln -s python3.12 real-3.12.1/bin/python; ln -s ../real-3.12.1 links/three;"
                  "ln -s \"$PWD/links/three\" current");
    expect(*state, "current", "current", "current links/three real-3.12.1");
}

static void test_a_program_that_is_found_by_links_needs_each_of_them(void **state)
{
    shell(*state, "mkdir -p local/bin uv/cpython-3.12.1/bin; ln -s cpython-3.12.1 uv/cpython-3.12;"
                  "touch uv/cpython-3.12.1/bin/python3.12 local/bin/secret;"
                  "ln -s ../../uv/cpython-3.12/bin/python3.12 local/bin/python");
    expect(*state, "local", "uv/cpython-3.12",
           "local/bin/python uv/cpython-3.12 uv/cpython-3.12.1");
}

static void test_a_venv_is_needed_although_its_python_does_not_know_it(void **state)
{
    shell(*state, "mkdir -p venv/bin base/bin; touch base/bin/python venv/pyvenv.cfg;"
                  "ln -s \"$PWD/base/bin/python\" venv/bin/python");
    expect(*state, "venv", "base", "base venv");
    shell(*state, "ln -s venv aside");
    expect(*state, "aside", "base", "aside base venv");
}

/* Here the venv is a home. */
static void test_of_a_venv_that_is_a_home_its_parts_are_needed(void **state)
{
    AUTO_FREE char *home = memory_format("%s/venv", (char *)*state);
    const char *before = getenv("HOME");
    AUTO_FREE char *kept = before ? memory_copy_string(before) : NULL;

    shell(*state, "mkdir -p venv/bin venv/lib venv/.ssh; touch venv/bin/python venv/pyvenv.cfg;"
                  "ln -s lib venv/lib64; ln -s venv link");
    setenv("HOME", home, 1);
    expect(*state, "venv", "venv link", "link venv/bin venv/lib venv/lib64 venv/pyvenv.cfg");
    if (kept)
        setenv("HOME", kept, 1);
    else
        unsetenv("HOME");
}

static void test_links_that_lead_nowhere_or_in_circles_are_given_up(void **state)
{
    shell(*state, "mkdir -p python/bin; touch python/bin/python; ln -s nowhere python/dangling;"
                  "ln -s b python/a; ln -s a python/b; ln -s .. python/up;");
    expect(*state, "python", "python python/a python/dangling python/b/c python/up/python/./lib/..",
           "python");
}

static void test_what_is_no_path_is_not_believed(void **state)
{
    AUTO_FREE char *executable = memory_format("%s/bin/python", (char *)*state);
    AUTO_FREE char *lines = memory_format("%s/a\nb", (char *)*state);
    AUTO_FREE char *up = memory_format("%s/..", (char *)*state);
    AUTO_FREE char *far = memory_new(100000, 1);
    const char *used[] = {
        "",  "relative",        "usr",      "/",     "//", "/proc/self/root", lines, up,
        far, "/nowhere/at/all", "/etc/ssl", "/root", NULL};
    char **needs;

    memset(far, '/', 99999);
    shell(*state, "mkdir bin 'a\nb'; touch bin/python");
    needs = python_needs_find(executable, used, NULL);
    assert_string_equal(needs[0], executable);
    assert_null(needs[1]);
    memory_free_strings(needs);
}

static void test_only_so_many_are_looked_at(void **state)
{
    AUTO_FREE char *executable = memory_format("%s/bin/python", (char *)*state);
    AUTO_FREE char *late = memory_format("%s/late", (char *)*state);
    const char *used[PYTHON_DIRECTORIES_MOST + 2] = {NULL};
    char **needs;

    shell(*state, "mkdir late");
    for (size_t i = 0; i < PYTHON_DIRECTORIES_MOST; i++)
        used[i] = "/usr";
    used[PYTHON_DIRECTORIES_MOST] = late;
    needs = python_needs_find(executable, used, NULL);
    assert_null(needs[0]);
    memory_free_strings(needs);
    used[PYTHON_DIRECTORIES_MOST - 1] = late;
    needs = python_needs_find(executable, used, NULL);
    assert_string_equal(needs[0], late);
    memory_free_strings(needs);
}

/* Of the program bin/python in SCRATCH/PLACE the PARTS, which are separated by spaces, are guessed
 * in SCRATCH, perhaps with others. */
static void expect_guesses(const char *scratch, const char *place, const char *parts)
{
    AUTO_FREE char *program = memory_format("%s/%s/bin/python", scratch, place);
    AUTO_FREE char *copy = memory_copy_string(parts);
    char **guessed = python_needs_guess(program);

    for (char *part = strtok(copy, " "); part; part = strtok(NULL, " ")) {
        AUTO_FREE char *path = memory_format("%s/%s", scratch, part);
        size_t i = 0;

        while (guessed[i] && strcmp(guessed[i], path) != 0)
            i++;
        if (!guessed[i])
            fail_msg("%s is not guessed", part);
    }
    memory_free_strings(guessed);
}

static void test_of_a_venv_its_parts_and_its_base_are_guessed(void **state)
{
    shell(*state,
          "mkdir -p venv/bin real/bin real/lib/python3.11 home/bin home/lib64/python3.12;"
          "touch real/bin/python3 real/lib/python3.11/os.py home/lib64/python3.12/os.py;"
          "chmod +x real/bin/python3; ln -s real link;"
          "ln -s \"$PWD/link/bin/python3\" venv/bin/python; ln -s lib venv/lib64;"
          "printf 'version = 3.11\\n HOME =  %s \\r\\n' \"$PWD/home/bin/\" >venv/pyvenv.cfg");
    expect_guesses(*state, "venv",
                   "venv/bin/python link real/bin/python3 venv/pyvenv.cfg venv/bin");
    expect_guesses(*state, "venv", "venv/lib venv/lib64 venv/include real/lib home/bin home/lib64");
}

/* The nearest library counts, and could be made where it is missing. */
static void test_a_library_is_looked_for_up_to_the_first_one(void **state)
{
    AUTO_FREE char *program = memory_format("%s/a/b/bin/python", (char *)*state);
    AUTO_FREE char *above = memory_format("%s/lib", (char *)*state);
    char **guessed;

    shell(*state, "mkdir -p a/b/bin a/lib/python3.11; touch a/lib/python3.11/os.py;"
                  "touch a/b/bin/python");
    expect_guesses(*state, "a/b", "a/b/bin/lib a/b/lib a/lib a/b/bin/pyvenv.cfg");
    guessed = python_needs_guess(program);
    for (size_t i = 0; guessed[i]; i++)
        assert_string_not_equal(guessed[i], above);
    memory_free_strings(guessed);
}

static void test_settings_that_are_no_file_are_not_waited_for(void **state)
{
    shell(*state, "mkdir -p venv/bin; mkfifo venv/pyvenv.cfg; mkdir venv/bin/pyvenv.cfg");
    expect_guesses(*state, "venv", "venv/bin/python venv/pyvenv.cfg");
}

static void test_a_way_ends_where_it_leads_to_or_would(void **state)
{
    AUTO_FREE char *path = memory_format("%s/link/file", (char *)*state);
    AUTO_FREE char *link = memory_format("%s/link", (char *)*state);
    AUTO_FREE char *end = memory_format("%s/missing/file", (char *)*state);
    char **way;

    shell(*state, "ln -s missing link");
    way = python_needs_way(path);
    assert_string_equal(way[0], link);
    assert_string_equal(way[1], end);
    assert_null(way[2]);
    memory_free_strings(way);
    way = python_needs_way("relative");
    assert_null(way[0]);
    memory_free_strings(way);
}

static void test_they_are_kept_as_json(void **state)
{
    static char *const directories[] = {(char *)"/a", (char *)"/\xff", NULL};
    AUTO_JSON json_t *json = python_directories_to_json(directories);
    AUTO_JSON json_t *numbers = json_pack("[s, i]", "/a", 1);
    AUTO_JSON json_t *many = json_array();
    char **read = python_directories_from_json(json);

    (void)state;
    assert_string_equal(read[0], "/a");
    assert_string_equal(read[1], "/\xef\xbf\xbd");
    assert_null(read[2]);
    memory_free_strings(read);
    assert_null(python_directories_from_json(NULL));
    assert_null(python_directories_from_json(json_array_get(json, 0)));
    assert_null(python_directories_from_json(numbers));
    assert_null(python_directories_to_json(NULL));
    for (int i = 0; i <= PYTHON_DIRECTORIES_MOST; i++)
        json_array_append_new(many, json_string("/a"));
    assert_null(python_directories_from_json(many));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_directory_that_is_there_is_needed),
        TEST(test_a_link_is_needed_with_what_it_leads_to),
        TEST(test_a_program_that_is_found_by_links_needs_each_of_them),
        TEST(test_a_venv_is_needed_although_its_python_does_not_know_it),
        TEST(test_of_a_venv_that_is_a_home_its_parts_are_needed),
        TEST(test_links_that_lead_nowhere_or_in_circles_are_given_up),
        TEST(test_what_is_no_path_is_not_believed),
        TEST(test_only_so_many_are_looked_at),
        TEST(test_of_a_venv_its_parts_and_its_base_are_guessed),
        TEST(test_a_library_is_looked_for_up_to_the_first_one),
        TEST(test_settings_that_are_no_file_are_not_waited_for),
        TEST(test_a_way_ends_where_it_leads_to_or_would),
        TEST(test_they_are_kept_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
