#include "environments/workplace/directory_removal.h"

#include "base/cleanup.h"
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
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes what is in DIRECTORY; returns the number of turns that took. */
static unsigned remove_all(const char *directory, unsigned operations)
{
    AUTO_CLOSE int fd = open_directory(directory);
    struct directory_removal removal;
    unsigned turns = 1;

    directory_removal_init(&removal, fd);
    while (directory_removal_step(&removal, operations))
        turns++;
    assert_false(directory_removal_step(&removal, operations)); /* and it stays so */
    directory_removal_deinit(&removal);
    return turns;
}

static const char *const contents[] = {
    "true",
    ": >file; mkdir empty; mkfifo fifo; ln -s nowhere dangling; ln -s . loop",
    "mkdir -p a/b/c/d x/y; touch a/1 a/b/2 a/b/c/3 a/b/c/d/4 x/y/5",
    ": >\"$(printf 'new\\nline')\"; : >'-rf'; : >'*'; : >\"$(printf '\\377')\"; mkdir ...",
    "mkdir -p closed/in/ner; touch closed/f closed/in/f; chmod 0 closed/in/ner closed/in closed",
    "mkdir readonly; touch readonly/f; chmod 0500 readonly",
    "mkdir -p lifted-0/lifted-0/lifted-0 lifted-1; touch lifted-0/lifted-0/f lifted-1/f",
    "seq 5000 | xargs touch",
};

static void test_whatever_is_there_is_removed(void **state)
{
    static const unsigned operations[] = {1, 7, 100000};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
        for (size_t k = 0; k < ARRAY_SIZE(operations); k++) {
            char *scratch = scratch_new();

            shell(scratch, contents[i]);
            remove_all(scratch, operations[k]);
            assert_int_equal(count_entries(scratch), 0);
            scratch_free(scratch);
        }
    }
}

static void test_links_are_not_followed(void **state)
{
    char *scratch = scratch_new();
    char *kept = scratch_new();
    AUTO_FREE char *command =
        memory_format("ln -s %s outside; mkdir d; ln -s %s d/outside", kept, kept);
    AUTO_FREE char *file = memory_format("%s/file", kept);
    struct stat status;

    (void)state;
    write_text(file, "precious");
    assert_int_equal(chmod(kept, 0500), 0);
    shell(scratch, command);
    remove_all(scratch, 1000);
    assert_int_equal(count_entries(scratch), 0);
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(stat(kept, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0500);
    scratch_free(scratch);
    scratch_free(kept);
}

/* No path is as long as this is deep, and there are fewer descriptors than levels. */
static void test_ten_thousand_levels_take_neither_memory_nor_descriptors(void **state)
{
    char *scratch = scratch_new();
    int fd = open_directory(scratch);
    const struct rlimit few = {.rlim_cur = 16, .rlim_max = 1024};

    (void)state;
    for (int i = 0; i < 10000; i++) {
        int inner;

        assert_int_equal(mkdirat(fd, "deeper", 0700), 0);
        inner = openat(fd, "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = inner;
    }
    close(fd);
    setrlimit(RLIMIT_NOFILE, &few);
    remove_all(scratch, 1000);
    assert_int_equal(count_entries(scratch), 0);
    scratch_free(scratch);
}

static void test_a_turn_is_bounded(void **state)
{
    char *scratch = scratch_new();

    (void)state;
    shell(scratch, "seq 1000 | xargs touch");
    assert_true(remove_all(scratch, 100) >= 10);
    scratch_free(scratch);
}

/* What cannot be removed must not be tried for ever. Only root can make such a thing. */
static void test_what_denies_removal_is_left(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *command = memory_format("chattr +i %s/a 2>/dev/null", scratch);
    bool denied;

    (void)state;
    shell(scratch, "mkdir a; touch a/f b");
    denied = system(command) == 0;
    remove_all(scratch, 10);
    assert_int_equal(count_entries(scratch), denied ? 1 : 0);
    if (denied)
        shell(scratch, "chattr -i a");
    scratch_free(scratch);
}

static void test_opening_gives_the_owner_his_rights(void **state)
{
    char *scratch = scratch_new();
    int parent = open_directory(scratch);
    struct stat status;
    int fd;

    (void)state;
    shell(scratch, "mkdir closed; chmod 0 closed; ln -s closed link; : >file");
    fd = directory_open_forced(parent, "closed");
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    close(fd);
    assert_int_equal(directory_open_forced(parent, "link"), -1);
    assert_int_equal(directory_open_forced(parent, "file"), -1);
    assert_int_equal(directory_open_forced(parent, "missing"), -1);
    close(parent);
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whatever_is_there_is_removed),
        cmocka_unit_test(test_links_are_not_followed),
        cmocka_unit_test(test_a_turn_is_bounded),
        cmocka_unit_test(test_what_denies_removal_is_left),
        cmocka_unit_test(test_opening_gives_the_owner_his_rights),
        cmocka_unit_test(test_ten_thousand_levels_take_neither_memory_nor_descriptors),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
