#include "server/origins.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/interpreter/python_needs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* A directory with `file`, `folder/inner`, `twice` with a second name, and links. */
static char place[] = "/tmp/origins-XXXXXX";

static char *in_place(const char *name)
{
    return memory_format("%s/%s", place, name);
}

static void make_file(const char *name)
{
    AUTO_FREE char *path = in_place(name);
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);

    assert_true(fd >= 0);
}

static void make_link(const char *name, const char *target)
{
    AUTO_FREE char *path = in_place(name);

    assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
    AUTO_FREE char *folder = NULL;
    AUTO_FREE char *twice = NULL;
    AUTO_FREE char *other = NULL;

    (void)state;
    assert_non_null(mkdtemp(place));
    folder = in_place("folder");
    twice = in_place("twice");
    other = in_place("other");
    assert_int_equal(mkdir(folder, S_IRWXU), 0);
    make_file("file");
    make_file("folder/inner");
    make_file("twice");
    make_file("script.py");
    assert_int_equal(link(twice, other), 0);
    make_link("away", "/etc/passwd");
    make_link("near", "folder/inner");
    make_link("folder/away", "/etc/passwd");
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"folder/inner", "folder/away", "file", "twice",
                                        "script.py",    "other",       "away", "near"};
    AUTO_FREE char *folder = in_place("folder");

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        AUTO_FREE char *path = in_place(names[i]);

        unlink(path);
    }
    rmdir(folder);
    return rmdir(place);
}

/* The entry of the directory that is kept for NAME is WANTED; or there is none, because of WHY. */
static void assert_entry(enum origin_kind kind, const char *name, const char *wanted,
                         const char *why)
{
    AUTO_FREE char *path = in_place(name);
    AUTO_FREE char *entry = wanted ? in_place(wanted) : NULL;
    struct origin origin = {.kind = kind, .path = path, .way = python_needs_way(path)};
    struct error err = ERROR_INIT;
    AUTO_FREE char *found = origin_find_entry(&origin, place, &err);

    assert_true(origin_is_reached(&origin, place));
    if (wanted)
        assert_string_equal(found, entry);
    else
        assert_null(found);
    if (why)
        assert_non_null(strstr(err.message, why));
    memory_free_strings(origin.way);
}

static void test_the_entry_that_holds_a_file_is_kept(void **state)
{
    (void)state;
    assert_entry(ORIGIN_FILE, "file", "file", NULL);
    assert_entry(ORIGIN_FILE, "folder/inner", "folder", NULL);
    assert_entry(ORIGIN_FILE, "folder/away", "folder", NULL);
    assert_entry(ORIGIN_FILE, "folder/missing", "folder", NULL);
    assert_entry(ORIGIN_PROGRAM, "folder/inner", "folder", NULL);
    assert_entry(ORIGIN_FOLDER, "folder", "folder", NULL);
}

static void test_what_scripts_could_replace_is_not(void **state)
{
    (void)state;
    assert_entry(ORIGIN_FILE, "missing", NULL, "there is no");
    assert_entry(ORIGIN_FILE, "away", NULL, "is a link");
    assert_entry(ORIGIN_FILE, "near", NULL, "by a link");
    assert_entry(ORIGIN_FILE, "twice", NULL, "a hard link");
    assert_entry(ORIGIN_FILE, "script.py", NULL, "the code of calls");
    assert_entry(ORIGIN_PROGRAM, "file", NULL, "beside it");
    assert_entry(ORIGIN_FOLDER, ".", NULL, "no single entry");
    assert_entry(ORIGIN_SOUGHT, "folder/inner", NULL, "PATH");
}

static void test_a_folder_is_reached_from_below(void **state)
{
    AUTO_FREE char *path = memory_copy_string(place);
    AUTO_FREE char *below = in_place("folder");
    struct origin origin = {.path = path, .way = python_needs_way(path)};

    (void)state;
    assert_false(origin_is_reached(&origin, below));
    assert_true(origin_is_reached(&origin, "/tmp"));
    origin.kind = ORIGIN_FOLDER;
    assert_true(origin_is_reached(&origin, below));
    assert_false(origin_is_reached(&origin, "/usr"));
    memory_free_strings(origin.way);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_entry_that_holds_a_file_is_kept),
        cmocka_unit_test(test_what_scripts_could_replace_is_not),
        cmocka_unit_test(test_a_folder_is_reached_from_below),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
