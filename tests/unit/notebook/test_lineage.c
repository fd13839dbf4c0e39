#include "base/memory.h"
#include "environments/notebook/notebook_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { FAMILY = 4 };

/* The first session, two copies of it, and a copy of the first of these. */
static void make_family(struct lineage family[FAMILY])
{
    for (int i = 0; i < FAMILY; i++)
        lineage_init(&family[i]);
    lineage_join(&family[1], &family[0]);
    lineage_join(&family[2], &family[0]);
    lineage_join(&family[3], &family[1]);
}

static void test_one_without_copies_carries_nobody(void **state)
{
    struct lineage alone;

    (void)state;
    lineage_init(&alone);
    assert_false(lineage_carries_others(&alone));
    lineage_leave(&alone);
    assert_null(alone.first);
}

static void test_a_copy_of_a_copy_belongs_to_the_first(void **state)
{
    struct lineage family[FAMILY];

    (void)state;
    make_family(family);
    for (int i = 1; i < FAMILY; i++) {
        assert_ptr_equal(family[i].first, &family[0]);
        assert_false(lineage_carries_others(&family[i]));
    }
    assert_true(lineage_carries_others(&family[0]));
}

static void test_a_copy_that_leaves_changes_nothing_for_others(void **state)
{
    struct lineage family[FAMILY];

    (void)state;
    make_family(family);
    lineage_leave(&family[1]);
    assert_null(family[1].first);
    assert_ptr_equal(family[3].first, &family[0]);
    assert_true(lineage_carries_others(&family[0]));
    lineage_leave(&family[3]);
    lineage_leave(&family[2]);
    assert_false(lineage_carries_others(&family[0]));
}

static void test_copies_outlive_the_first_without_it(void **state)
{
    struct lineage family[FAMILY];

    (void)state;
    make_family(family);
    lineage_leave(&family[0]);
    assert_false(lineage_carries_others(&family[0]));
    for (int i = 1; i < FAMILY; i++) {
        assert_null(family[i].first);
        lineage_leave(&family[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_without_copies_carries_nobody),
        cmocka_unit_test(test_a_copy_of_a_copy_belongs_to_the_first),
        cmocka_unit_test(test_a_copy_that_leaves_changes_nothing_for_others),
        cmocka_unit_test(test_copies_outlive_the_first_without_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
