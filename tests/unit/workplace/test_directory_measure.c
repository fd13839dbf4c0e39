#include "environments/workplace/directory_measure.h"

#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

/* Bytes in the tree at PATH, by steps of a few entries. */
static uint64_t measure(const char *path, bool *ret_complete)
{
    int fd = open_directory(path);
    struct directory_measure measure;
    uint64_t bytes;

    directory_measure_begin(&measure, fd);
    while (directory_measure_step(&measure, 3))
        ;
    bytes = measure.bytes;
    *ret_complete = measure.is_complete;
    directory_measure_end(&measure);
    close(fd);
    return bytes;
}

/* By how much the shell COMMAND makes the tree grow, all of which is seen. */
static uint64_t growth_by(const char *path, const char *command)
{
    bool is_complete;
    uint64_t before = measure(path, &is_complete);

    assert_true(is_complete);
    shell(path, command);
    before = measure(path, &is_complete) - before;
    assert_true(is_complete);
    return before;
}

static void test_bytes_are_what_the_disk_holds(void **state)
{
    char *scratch = scratch_new();

    (void)state;
    assert_in_range(growth_by(scratch, "head -c 1000000 /dev/zero >f; truncate -s 1G hole"),
                    1000000, 1020000);
    assert_in_range(growth_by(scratch, "mkdir .hidden; head -c 1000000 /dev/zero >.hidden/f"),
                    1000000, 1020000);
    assert_int_equal(growth_by(scratch, "ln -s / link"), 4096);
    scratch_free(scratch);
}

static void test_a_file_of_many_names_counts_once_and_in_full(void **state)
{
    char *scratch = scratch_new();
    char *inside;

    (void)state;
    assert_in_range(growth_by(scratch, "head -c 1000000 /dev/zero >f;"
                                       "for i in $(seq 20); do ln f $i; done"),
                    1000000, 1050000);
    shell(scratch, "mkdir inside");
    inside = memory_format("%s/inside", scratch);
    /* Nine of its ten names are outside. */
    assert_in_range(growth_by(inside, "head -c 1000000 /dev/zero >f;"
                                      "for i in $(seq 9); do ln f ../outside-$i; done"),
                    1000000, 1020000);
    free(inside);
    scratch_free(scratch);
}

static void test_no_depth_hides_anything(void **state)
{
    char *scratch = scratch_new();

    (void)state;
    assert_in_range(growth_by(scratch,
                              "n=$(printf 'd%.0s' $(seq 200)); for i in $(seq 60); do mkdir $n; "
                              "cd $n; mkdir empty; done; head -c 1000000 /dev/zero >f"),
                    1000000, 2000000);
    scratch_free(scratch);
}

static void test_what_cannot_be_seen_is_told(void **state)
{
    char *scratch = scratch_new();
    bool is_complete;

    (void)state;
    shell(scratch, "mkdir -p $(printf 'd/%.0s' $(seq 1001))");
    (void)measure(scratch, &is_complete);
    assert_false(is_complete);
    scratch_free(scratch);
}

static void test_entries_take_room(void **state)
{
    char *scratch = scratch_new();

    (void)state;
    assert_in_range(growth_by(scratch, "for i in $(seq 1000); do : >$i; done"), 4096 * 1000,
                    4096 * 1050);
    scratch_free(scratch);
}

static void test_what_was_changed_later_does_not_count(void **state)
{
    char *scratch = scratch_new();
    int fd = open_directory(scratch);
    struct directory_measure measure;

    (void)state;
    shell(scratch, "head -c 1000000 /dev/zero >old; sleep 0.05");
    directory_measure_begin(&measure, fd);
    clock_gettime(CLOCK_REALTIME_COARSE, &measure.until);
    shell(scratch, "head -c 3000000 /dev/zero >new");
    while (directory_measure_step(&measure, 1))
        ;
    assert_in_range(measure.bytes, 1000000, 1020000);
    directory_measure_end(&measure);
    close(fd);
    scratch_free(scratch);
}

static void test_it_can_be_left_at_any_time(void **state)
{
    char *scratch = scratch_new();
    int fd = open_directory(scratch);

    (void)state;
    shell(scratch, "mkdir -p a/b/c d/e/f; : >a/g; ln a/g h");
    for (unsigned operations = 0; operations < 20; operations++) {
        struct directory_measure measure;

        directory_measure_begin(&measure, fd);
        (void)directory_measure_step(&measure, operations);
        directory_measure_end(&measure);
    }
    close(fd);
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_what_the_disk_holds),
        cmocka_unit_test(test_a_file_of_many_names_counts_once_and_in_full),
        cmocka_unit_test(test_no_depth_hides_anything),
        cmocka_unit_test(test_what_cannot_be_seen_is_told),
        cmocka_unit_test(test_entries_take_room),
        cmocka_unit_test(test_what_was_changed_later_does_not_count),
        cmocka_unit_test(test_it_can_be_left_at_any_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
