#include "base/starter/starter.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#define PLACE "/proc/self/fd/100"

enum { PLACE_FD = 100 };

/* The variables of a program that GIVEN (NULL-terminated) and a starter are lent to. */
static char **lend(const char **given)
{
    AUTO_CLOSE int file = starter_open();
    char **lent;

    assert_true(file >= 0);
    lent = starter_lend(file, (char **)given);
    assert_ptr_not_equal(lent, given);
    return lent;
}

static void test_the_starter_is_searched_first(void **state)
{
    const char *given[] = {"PATH=/bin", "HOME=/tmp", NULL};
    AUTO_FREE char **lent = lend(given);

    (void)state;
    assert_string_equal(lent[0], "PATH=/bin");
    assert_string_equal(lent[1], "HOME=/tmp");
    assert_string_equal(lent[2], "PYTHONPATH=" PLACE);
    assert_null(lent[3]);
    free(lent[2]);
}

static void test_what_was_searched_before_comes_behind_it(void **state)
{
    const char *given[] = {"PYTHONPATH=/a:/b", "HOME=/tmp", NULL};
    AUTO_FREE char **lent = lend(given);

    (void)state;
    assert_string_equal(lent[0], "PYTHONPATH=" PLACE ":/a:/b");
    assert_string_equal(lent[1], "HOME=/tmp");
    assert_null(lent[2]);
    free(lent[0]);
}

static void test_the_program_has_an_archive_that_nobody_can_change(void **state)
{
    const char *given[] = {NULL};
    AUTO_FREE char **lent = lend(given);
    AUTO_CLOSE int again = open(PLACE, O_RDWR | O_CLOEXEC);
    char first[2];

    (void)state;
    assert_int_equal(fcntl(PLACE_FD, F_GETFD), 0);
    assert_int_equal(pread(PLACE_FD, first, sizeof first, 0), sizeof first);
    assert_memory_equal(first, "PK", sizeof first);
    assert_int_equal(pwrite(again, "x", 1, 0), -1);
    assert_int_equal(ftruncate(again, 0), -1);
    assert_int_equal(fcntl(PLACE_FD, F_ADD_SEALS, F_SEAL_WRITE), -1);
    free(lent[0]);
}

static void test_without_a_starter_the_variables_stay_as_they_are(void **state)
{
    const char *given[] = {"PATH=/bin", NULL};

    (void)state;
    assert_ptr_equal(starter_lend(-1, (char **)given), given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_starter_is_searched_first),
        cmocka_unit_test(test_what_was_searched_before_comes_behind_it),
        cmocka_unit_test(test_the_program_has_an_archive_that_nobody_can_change),
        cmocka_unit_test(test_without_a_starter_the_variables_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
