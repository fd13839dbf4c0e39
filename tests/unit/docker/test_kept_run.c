#include "environments/docker/kept_run.h"

#include "environments/docker/script_file.h"
#include "environments/docker/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_only_an_init_that_refuses_the_go_is_tried_without(void **state)
{
    const struct docker_go go = {0};
    struct docker_tree tree = {.go = &go};

    (void)state;
    assert_int_equal(kept_try_next(KEPT_TRY_WAITING, &tree), KEPT_TRY_OWN);
    assert_int_equal(kept_try_next(KEPT_TRY_OWN, &tree), KEPT_TRY_NONE);
    tree.output.has_not_begun = true;
    assert_int_equal(kept_try_next(KEPT_TRY_WAITING, &tree), KEPT_TRY_PLAIN);
    assert_int_equal(kept_try_next(KEPT_TRY_OWN, &tree), KEPT_TRY_PLAIN);
    tree.go = NULL;
    assert_int_equal(kept_try_next(KEPT_TRY_WAITING, &tree), KEPT_TRY_OWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_an_init_that_refuses_the_go_is_tried_without),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
