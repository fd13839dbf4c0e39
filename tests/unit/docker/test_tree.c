#include "environments/docker/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* One that waits for a script and was asked, and whose init has said nothing. */
static const struct docker_tree asked = {
    .state = DOCKER_TREE_ASKED, .awaits = true, .end.started = true};

static void test_without_an_answer_nothing_has_run(void **state)
{
    struct docker_tree tree = asked;

    (void)state;
    assert_int_equal(docker_tree_judge(&tree, true), DOCKER_TREE_NEVER_BEGAN);
    tree.state = DOCKER_TREE_RUNNING;
    tree.output.has_begun = true;
    assert_int_equal(docker_tree_judge(&tree, true), DOCKER_TREE_HAS_RUN);
    assert_int_equal(docker_tree_judge(&tree, false), DOCKER_TREE_HAS_RUN);
}

static void test_nothing_is_known_when_the_connection_is_lost_before_the_answer(void **state)
{
    struct docker_tree tree = asked;

    (void)state;
    assert_int_equal(docker_tree_judge(&tree, false), DOCKER_TREE_WAS_LOST);
    tree.output.has_not_begun = true;
    assert_int_equal(docker_tree_judge(&tree, false), DOCKER_TREE_NEVER_BEGAN);
    tree = asked;
    tree.state = DOCKER_TREE_WAITING;
    assert_int_equal(docker_tree_judge(&tree, false), DOCKER_TREE_NEVER_BEGAN);
}

static void test_without_a_go_only_the_engine_knows(void **state)
{
    struct docker_tree tree = {.state = DOCKER_TREE_RUNNING, .end.started = true};

    (void)state;
    assert_int_equal(docker_tree_judge(&tree, true), DOCKER_TREE_HAS_RUN);
    assert_int_equal(docker_tree_judge(&tree, false), DOCKER_TREE_HAS_RUN);
    tree.end = (struct container_end){.status = 409, .failure = "not running"};
    assert_int_equal(docker_tree_judge(&tree, true), DOCKER_TREE_NEVER_BEGAN);
}

static void test_an_init_that_refuses_has_begun_nothing(void **state)
{
    struct docker_tree tree = {
        .state = DOCKER_TREE_RUNNING, .end.started = true, .output.has_not_begun = true};

    (void)state;
    assert_int_equal(docker_tree_judge(&tree, true), DOCKER_TREE_NEVER_BEGAN);
    assert_int_equal(docker_tree_judge(&tree, false), DOCKER_TREE_NEVER_BEGAN);
    assert_true(docker_tree_lacked_tools(&tree));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_an_answer_nothing_has_run),
        cmocka_unit_test(test_nothing_is_known_when_the_connection_is_lost_before_the_answer),
        cmocka_unit_test(test_without_a_go_only_the_engine_knows),
        cmocka_unit_test(test_an_init_that_refuses_has_begun_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
