#include "environments/workplace/directory_listing.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/workplace/directory_measure.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

enum { GRAIN_MICROSECONDS = 20000 }; /* more than the grain of file times */

struct look {
    char *scratch;
    int fd;
    struct directory_listing *before;
    bool is_complete; /* what was found last */
};

static int open_subdirectory(const struct look *look, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", look->scratch, name);

    return open_directory(path);
}

static struct directory_listing *list_directory(int directory)
{
    struct directory_listing *listing = directory_listing_new(directory);

    while (directory_listing_step(listing, 7))
        ;
    return listing;
}

/* A scratch directory, made by the shell COMMAND, and what is in it. */
static void look_init(struct look *look, const char *command)
{
    look->scratch = scratch_new();
    shell(look->scratch, command);
    usleep(GRAIN_MICROSECONDS);
    look->fd = open_directory(look->scratch);
    look->before = list_directory(look->fd);
}

static void look_deinit(struct look *look)
{
    directory_listing_free(look->before);
    close(look->fd);
    scratch_free(look->scratch);
}

/* What the shell COMMAND changes: "path size mimeType" lines. Owned by the caller. */
static char *changes_by(struct look *look, const char *command)
{
    struct directory_listing *after;
    struct directory_changes changes;
    char *text = memory_copy_string("");
    const json_t *change;
    size_t i;

    shell(look->scratch, command);
    after = list_directory(look->fd);
    changes = directory_listing_changes(look->before, after);
    directory_listing_free(after);
    look->is_complete = changes.are_complete;
    json_array_foreach (changes.files, i, change) {
        char *longer = memory_format("%s%s %d %s\n", text, json_object_get_string(change, "path"),
                                     (int)json_integer_value(json_object_get(change, "size")),
                                     json_object_get_string(change, "mimeType"));

        free(text);
        text = longer;
    }
    json_decref(changes.files);
    return text;
}

static const struct change_case {
    const char *before;
    const char *command;
    const char *expected;
} change_cases[] = {
    {"true", "true", ""},
    {"echo 1 >old", "true", ""},
    {"true", "printf 12345 >new.csv", "new.csv 5 text/csv\n"},
    {"printf 1 >f.json", "printf 2 >f.json", "f.json 1 application/json\n"},
    {"printf 1 >f", "printf 22 >>f", "f 3 application/octet-stream\n"},
    {"printf 1 >f", "rm f", ""},
    {"printf 1 >f", "mv f g.txt", "g.txt 1 text/plain\n"},
    {"printf 1 >f", "touch -r f t; printf 2 >f; touch -r t f; rm t",
     "f 1 application/octet-stream\n"},
    {"true", "mkdir -p a/b; printf 1 >a/b/c.PNG; printf 1 >a/z",
     "a/b/c.PNG 1 image/png\na/z 1 application/octet-stream\n"},
    {"true",
     "mkdir __pycache__ .cache a; touch __pycache__/m.pyc .cache/x; mkdir a/__pycache__; touch "
     "a/__pycache__/y .env",
     ".env 0 application/octet-stream\n"},
    {"true", "mkdir a; touch .pyexecd-0123456789abcdef.py a/.pyexecd-x.py",
     "a/.pyexecd-x.py 0 text/x-python\n"},
    {"true",
     "ln -s /etc/passwd link; ln -s / root; ln -s . loop; mkfifo fifo; ln -s nowhere dangling", ""},
    {"mkdir -p a/b; touch a/1", "touch a/b/2; chmod 0 a/b; chmod 0 a; chmod 0 .",
     "a/b/2 0 application/octet-stream\n"},
    {"true", "touch \"$(printf 'a\\nb')\" \"$(printf 'c\\377')\"",
     "a\nb 0 application/octet-stream\nc\xEF\xBF\xBD 0 application/octet-stream\n"},
};

static void test_changes_are_files_that_are_new_or_different(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(change_cases); i++) {
        const struct change_case *test = &change_cases[i];
        struct look look;
        AUTO_FREE char *changes = NULL;

        look_init(&look, test->before);
        changes = changes_by(&look, test->command);
        assert_string_equal(changes, test->expected);
        assert_true(look.is_complete || geteuid() != 0);
        look_deinit(&look);
    }
}

static void test_a_file_that_is_left_out_is_no_change(void **state)
{
    struct directory_listing *after;
    struct left_out_file left_out;
    struct directory_changes changes;
    struct look look;
    struct stat status;

    (void)state;
    look_init(&look, "mkdir sub; echo 1 > sub/output");
    shell(look.scratch, "echo 2 >> sub/output; ln sub/output other; echo 3 > new");
    assert_int_equal(fstatat(look.fd, "other", &status, 0), 0);
    left_out = (struct left_out_file){status.st_dev, status.st_ino};
    after = directory_listing_new(look.fd);
    directory_listing_leave_out(after, &left_out, 1);
    while (directory_listing_step(after, 7))
        ;
    changes = directory_listing_changes(look.before, after);
    assert_int_equal(json_array_size(changes.files), 1);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(changes.files, 0), "path")), "new");
    json_decref(changes.files);
    directory_listing_free(after);
    look_deinit(&look);
}

static void test_a_list_of_changes_names_a_hundred(void **state)
{
    struct look look;
    AUTO_FREE char *changes = NULL;
    size_t lines = 0;

    (void)state;
    look_init(&look, "true");
    changes = changes_by(&look, "for i in $(seq -w 150); do : >$i; done");
    for (const char *line = changes; (line = strchr(line, '\n')); line++)
        lines++;
    assert_int_equal(lines, DIRECTORY_LISTING_CHANGES);
    assert_int_equal(strncmp(changes, "001 ", 4), 0);
    assert_false(look.is_complete);
    look_deinit(&look);
}

/* With more entries than are looked at, what was not seen before is no news by itself. */
static void test_files_beyond_the_limit_are_not_taken_for_new(void **state)
{
    struct look look;
    AUTO_FREE char *nothing = NULL;
    AUTO_FREE char *one = NULL;

    (void)state;
    look_init(&look, "seq -f %05g 10500 | xargs touch");
    nothing = changes_by(&look, "seq -f %05g 600 | xargs rm");
    assert_string_equal(nothing, "");
    assert_true(look.is_complete);
    one = changes_by(&look, "printf 1 >new; seq -f %05g 600 4000 | xargs rm -f");
    assert_string_equal(one, "new 1 application/octet-stream\n");
    look_deinit(&look);
}

static void test_depth_is_bounded(void **state)
{
    struct look look;
    AUTO_FREE char *changes = NULL;

    (void)state;
    look_init(&look, "true");
    changes = changes_by(&look, "mkdir -p $(printf 'd/%.0s' $(seq 300));"
                                ": >$(printf 'd/%.0s' $(seq 20))/f;"
                                ": >$(printf 'd/%.0s' $(seq 200))/f");
    assert_non_null(strstr(changes, "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/f 0"));
    assert_null(strchr(strchr(changes, '\n') + 1, '\n'));
    assert_false(look.is_complete);
    look_deinit(&look);
}

static void test_a_list_that_may_lack_a_file_says_so(void **state)
{
    struct look look;
    AUTO_FREE char *ignored = NULL;

    (void)state;
    look_init(&look, "seq -f %05g 10100 | xargs touch");
    ignored = changes_by(&look, "touch new");
    assert_false(look.is_complete);
    look_deinit(&look);
}

static void test_what_is_in_a_cache_does_not_count(void **state)
{
    struct look look;
    AUTO_FREE char *changes = NULL;

    (void)state;
    look_init(&look, "mkdir .venv; cd .venv; seq -f %05g 10100 | xargs touch");
    changes = changes_by(&look, "printf 1 >new");
    assert_string_equal(changes, "new 1 application/octet-stream\n");
    assert_true(look.is_complete);
    look_deinit(&look);
}

static const struct measure_case {
    const char *command;
    bool is_measure;
} measure_cases[] = {
    {"true", true},
    {"mkdir -p a/b; head -c 100000 /dev/zero >a/b/f; truncate -s 1G hole; ln -s / l; mkfifo p",
     true},
    {"mkdir .cache; head -c 100000 /dev/zero >.cache/f", false},
    {"touch f; ln f g", false},
    {"seq -f %05g 10100 | xargs touch", false},
};

/* Bytes in the tree of LOOK as a measure counts them. */
static uint64_t measured_bytes(const struct look *look)
{
    struct directory_measure measure;
    uint64_t bytes;

    directory_measure_begin(&measure, look->fd);
    while (directory_measure_step(&measure, 100))
        ;
    bytes = measure.bytes;
    directory_measure_end(&measure);
    return bytes;
}

static void test_a_list_of_all_that_takes_room_is_a_measure(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(measure_cases); i++) {
        struct look look;
        uint64_t bytes;

        look_init(&look, measure_cases[i].command);
        assert_int_equal(directory_listing_measures(look.before, &bytes),
                         measure_cases[i].is_measure);
        if (measure_cases[i].is_measure)
            assert_int_equal(bytes, measured_bytes(&look));
        look_deinit(&look);
    }
}

/* It was moved away meanwhile, and its place was taken. */
static void test_a_link_in_the_place_of_a_folder_is_not_followed(void **state)
{
    struct look look;
    struct directory_listing *after;
    struct directory_changes changes;

    (void)state;
    look_init(&look, "mkdir elsewhere; touch elsewhere/secret; mkdir in; mkdir in/folder");
    close(look.fd);
    look.fd = open_subdirectory(&look, "in");
    after = directory_listing_new(look.fd);
    assert_true(directory_listing_step(after, 4)); /* the root has been read */
    shell(look.scratch, "rmdir in/folder; ln -s ../elsewhere in/folder");
    while (directory_listing_step(after, 1))
        ;
    changes = directory_listing_changes(look.before, after);
    directory_listing_free(after);
    assert_int_equal(json_array_size(changes.files), 0);
    json_decref(changes.files);
    look_deinit(&look);
}

static void look_note(struct directory_listing *listing, const struct look *look, const char *path)
{
    struct stat status;

    assert_int_equal(fstatat(look->fd, path, &status, AT_SYMLINK_NOFOLLOW), 0);
    directory_listing_note(listing, path, &status);
}

static bool look_knows(const struct directory_listing *listing, const struct look *look,
                       const char *path)
{
    struct stat status;

    assert_int_equal(fstatat(look->fd, path, &status, AT_SYMLINK_NOFOLLOW), 0);
    return directory_listing_knows(listing, path, &status);
}

static void test_what_is_noted_counts_once_it_is_settled(void **state)
{
    struct look look;

    (void)state;
    look_init(&look, "printf 1 >b; printf 1 >d; printf 1 >e");
    shell(look.scratch, "printf 22 >b; printf 22 >a; printf 22 >f; rm e");
    look_note(look.before, &look, "f");
    look_note(look.before, &look, "b");
    look_note(look.before, &look, "a");
    directory_listing_forget(look.before, "e");
    directory_listing_forget(look.before, "a");
    look_note(look.before, &look, "a");
    assert_true(!look_knows(look.before, &look, "a") && !look_knows(look.before, &look, "b"));
    directory_listing_settle(look.before);
    assert_true(look_knows(look.before, &look, "a") && look_knows(look.before, &look, "b"));
    assert_true(look_knows(look.before, &look, "d") && look_knows(look.before, &look, "f"));
    assert_int_equal(directory_listing_size(look.before), 2 + 2 + 1 + 2);
    look_deinit(&look);
}

static void test_an_empty_listing_can_be_filled(void **state)
{
    struct directory_listing *empty = directory_listing_new_empty();
    struct directory_listing *after;
    struct look look;
    size_t place = 0;

    (void)state;
    look_init(&look, "mkdir in; printf 1 >in/a; printf 1 >b");
    assert_true(directory_listing_is_complete(empty));
    look_note(empty, &look, "in");
    look_note(empty, &look, "in/a");
    directory_listing_settle(empty);
    after = directory_listing_new_of_all(look.fd);
    while (directory_listing_step(after, 7))
        ;
    assert_string_equal(directory_listing_next_change(empty, after, &place), "b");
    assert_null(directory_listing_next_change(empty, after, &place));
    directory_listing_free(after);
    directory_listing_free(empty);
    look_deinit(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_are_files_that_are_new_or_different),
        cmocka_unit_test(test_a_file_that_is_left_out_is_no_change),
        cmocka_unit_test(test_a_list_of_changes_names_a_hundred),
        cmocka_unit_test(test_files_beyond_the_limit_are_not_taken_for_new),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_a_list_that_may_lack_a_file_says_so),
        cmocka_unit_test(test_what_is_in_a_cache_does_not_count),
        cmocka_unit_test(test_a_list_of_all_that_takes_room_is_a_measure),
        cmocka_unit_test(test_a_link_in_the_place_of_a_folder_is_not_followed),
        cmocka_unit_test(test_what_is_noted_counts_once_it_is_settled),
        cmocka_unit_test(test_an_empty_listing_can_be_filled),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
