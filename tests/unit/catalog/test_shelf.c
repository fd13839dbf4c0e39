#include "environments/catalog/shelf.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "tests/unit/environments/slow_environment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct ev_loop *loop;

static int setup(void **state)
{
    slow_alive = 0;
    slow_stopped = 0;
    loop = ev_loop_new(0);
    *state = shelf_new(loop);
    return 0;
}

static int teardown(void **state)
{
    shelf_free(*state);
    assert_int_equal(slow_alive, 0);
    ev_loop_destroy(loop);
    return 0;
}

/* Puts a new one of OWNER's under the number KEY; NULL when there is no room. */
static struct environment *put_for(struct shelf *shelf, const char *owner, int key)
{
    AUTO_FREE char *text = memory_format("%d", key);
    struct error err = ERROR_INIT;
    struct environment *environment;

    if (shelf_make_room(shelf, owner, &err) < 0) {
        assert_int_equal(err.code, ERROR_BUSY);
        return NULL;
    }
    environment = slow_environment_new(loop);
    shelf_put(shelf, text, owner, environment);
    return environment;
}

static struct environment *put(struct shelf *shelf, int key)
{
    return put_for(shelf, "ann", key);
}

static struct environment *find(struct shelf *shelf, int key)
{
    AUTO_FREE char *text = memory_format("%d", key);

    return shelf_find(shelf, text);
}

static void fill(struct shelf *shelf, int first, int count)
{
    for (int i = first; i < first + count; i++)
        assert_non_null(put(shelf, i));
}

static void test_what_was_put_is_found(void **state)
{
    struct environment *environment = put(*state, 1);

    assert_ptr_equal(find(*state, 1), environment);
    assert_null(find(*state, 2));
    assert_true(shelf_has(*state, environment));
    assert_false(shelf_has(*state, NULL));
}

static void test_the_one_that_was_not_used_for_the_longest_time_goes(void **state)
{
    fill(*state, 0, SHELF_PLACES);
    assert_non_null(find(*state, 0));
    assert_non_null(put(*state, 100));
    assert_non_null(find(*state, 0));
    assert_null(find(*state, 1));
    assert_int_equal(slow_alive, SHELF_PLACES);
    assert_int_equal(slow_stopped, 1);
}

static void test_one_that_is_in_use_stays(void **state)
{
    struct environment *used = put(*state, 0);

    environment_hold(used);
    fill(*state, 1, 100);
    assert_ptr_equal(find(*state, 0), used);
    environment_release(used);
}

static void test_there_is_no_room_when_all_are_in_use(void **state)
{
    struct environment *used[SHELF_PLACES];

    for (int i = 0; i < SHELF_PLACES; i++) {
        used[i] = put_for(*state, i % 2 ? "ann" : "bob", i);
        environment_hold(used[i]);
    }
    assert_null(put_for(*state, "eve", 100));
    environment_release(used[7]);
    assert_non_null(put_for(*state, "eve", 100));
    assert_null(find(*state, 7));
    for (int i = 0; i < SHELF_PLACES; i++)
        if (i != 7)
            environment_release(used[i]);
}

static void test_one_owner_leaves_room_for_others(void **state)
{
    struct environment *used[SHELF_SHARE];

    for (int i = 0; i < SHELF_SHARE; i++) {
        used[i] = put(*state, i);
        environment_hold(used[i]);
    }
    assert_null(put(*state, 100));
    assert_non_null(put_for(*state, "bob", 101));
    environment_release(used[0]);
    assert_non_null(put(*state, 100));
    for (int i = 1; i < SHELF_SHARE; i++)
        environment_release(used[i]);
}

static void turn(void)
{
    ev_run(loop, EVRUN_NOWAIT);
}

static void test_one_that_has_to_go_is_freed_when_it_is_idle(void **state)
{
    struct slow_environment *first = slow_of(put(*state, 0));

    first->is_slow = true;
    fill(*state, 1, SHELF_PLACES);
    assert_null(find(*state, 0));
    assert_int_equal(slow_alive, SHELF_PLACES + 1);
    turn();
    assert_int_equal(slow_alive, SHELF_PLACES + 1);
    assert_false(shelf_is_idle(*state));
    first->is_slow = false;
    assert_true(shelf_is_idle(*state));
    turn();
    assert_int_equal(slow_alive, SHELF_PLACES);
}

static void test_only_so_many_may_be_going(void **state)
{
    struct slow_environment *slow[SHELF_PLACES];

    for (int i = 0; i < SHELF_PLACES; i++) {
        slow[i] = slow_of(put(*state, i));
        slow[i]->is_slow = true;
    }
    fill(*state, 100, SHELF_PLACES);
    assert_null(put(*state, 1000));
    for (int i = 0; i < SHELF_PLACES; i++)
        slow[i]->is_slow = false;
    turn();
    assert_int_equal(slow_alive, SHELF_PLACES);
    assert_non_null(put(*state, 1000));
}

static void test_all_are_stopped(void **state)
{
    fill(*state, 0, 3);
    shelf_stop(*state);
    assert_int_equal(slow_stopped, 3);
    assert_true(shelf_is_idle(*state));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_was_put_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_one_that_was_not_used_for_the_longest_time_goes,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_is_in_use_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_there_is_no_room_when_all_are_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_owner_leaves_room_for_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_has_to_go_is_freed_when_it_is_idle, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_only_so_many_may_be_going, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_are_stopped, setup, teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
