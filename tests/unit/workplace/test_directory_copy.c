#include "environments/workplace/directory_copy.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <signal.h>

struct trees {
    char *scratch;
    char *from;
    char *to;
};

static int setup(void **state)
{
    struct trees *trees = NEW(struct trees);

    trees->scratch = scratch_new();
    trees->from = memory_format("%s/from", trees->scratch);
    trees->to = memory_format("%s/to", trees->scratch);
    shell(trees->scratch, "mkdir from to");
    *state = trees;
    return 0;
}

static int teardown(void **state)
{
    struct trees *trees = *state;

    scratch_free(trees->scratch);
    free(trees->from);
    free(trees->to);
    free(trees);
    return 0;
}

static void test_a_copy_is_the_same_and_its_own(void **state)
{
    struct trees *trees = *state;
    AUTO_FREE char *copied = memory_format("%s/to/folder/small", trees->scratch);
    AUTO_FREE char *first = memory_format("%s/from/folder/small", trees->scratch);
    AUTO_FREE char *text = NULL;
    struct error err = ERROR_INIT;

    shell(trees->from, "mkdir -p folder/deeper; echo small >folder/small; chmod 751 folder/small;"
                       "head -c 3000000 /dev/urandom >folder/deeper/large; : >empty;"
                       "ln -s folder/small link; ln -s nowhere dangling");
    assert_int_equal(directory_copy(trees->from, trees->to, &err), 0);
    shell(trees->scratch,
          "diff -r --no-dereference from to && test -x to/folder/small && touch same");
    assert_int_equal(count_entries(trees->scratch), 3);
    write_text(copied, "changed");
    text = read_text(first);
    assert_string_equal(text, "small\n");
}

static void test_what_is_no_file_is_refused(void **state)
{
    struct trees *trees = *state;
    struct error err = ERROR_INIT;

    shell(trees->from, "mkfifo fifo");
    assert_int_equal(directory_copy(trees->from, trees->to, &err), -1);
    assert_int_equal(err.number, EINVAL);
}

static void test_size_and_number_are_limited(void **state)
{
    struct trees *trees = *state;
    struct error err = ERROR_INIT;

    shell(trees->from, "truncate -s 65M large");
    assert_int_equal(directory_copy(trees->from, trees->to, &err), -1);
    assert_int_equal(err.number, EFBIG);
    shell(trees->from, "rm large; seq 1100 | xargs touch");
    error_clear(&err);
    assert_int_equal(directory_copy(trees->from, trees->to, &err), -1);
    assert_int_equal(err.number, EFBIG);
}

static void test_depth_is_limited(void **state)
{
    struct trees *trees = *state;
    struct error err = ERROR_INIT;

    shell(trees->from, "mkdir -p 1/2/3/4/5/6/7/8/9");
    assert_int_equal(directory_copy(trees->from, trees->to, &err), -1);
    assert_int_equal(err.number, ELOOP);
}

static void test_an_overfull_disk_is_an_error(void **state)
{
    struct trees *trees = *state;
    struct error err = ERROR_INIT;
    struct rlimit before;
    struct rlimit small;

    shell(trees->from, "head -c 100000 /dev/zero >large");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 10000;
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(directory_copy(trees->from, trees->to, &err), -1);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(err.number, EFBIG);
}

static void test_what_is_not_there_is_named(void **state)
{
    struct trees *trees = *state;
    AUTO_FREE char *expected =
        memory_format("cannot open %s: No such file or directory", trees->from);
    struct error err = ERROR_INIT;

    shell(trees->scratch, "rmdir from");
    assert_int_equal(directory_copy(trees->from, trees->to, &err), -1);
    assert_string_equal(err.message, expected);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_copy_is_the_same_and_its_own), TEST(test_what_is_no_file_is_refused),
        TEST(test_size_and_number_are_limited),    TEST(test_depth_is_limited),
        TEST(test_an_overfull_disk_is_an_error),   TEST(test_what_is_not_there_is_named),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
