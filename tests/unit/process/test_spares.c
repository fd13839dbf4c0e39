#include "environments/process/spares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { MOST = 8 };

struct kitchen {
    struct ev_loop *loop;
    struct spares spares;
    struct spare_maker maker;
    struct spare made[MOST];
    unsigned count;
    bool is_broken;
};

static struct spare *make(struct spare_maker *maker)
{
    struct kitchen *kitchen = CONTAINER_OF(maker, struct kitchen, maker);

    if (kitchen->is_broken)
        return NULL;
    assert_true(kitchen->count < MOST);
    spare_init(&kitchen->made[kitchen->count]);
    return &kitchen->made[kitchen->count++];
}

static int set_up(void **state)
{
    static struct kitchen kitchen;

    kitchen = (struct kitchen){.loop = ev_loop_new(0),
                               .maker = {.key = "bread", .count = 2, .make = make}};
    spares_init(&kitchen.spares, kitchen.loop);
    spares_add(&kitchen.spares, &kitchen.maker);
    *state = &kitchen;
    return 0;
}

static int tear_down(void **state)
{
    struct kitchen *kitchen = *state;

    spares_deinit(&kitchen->spares);
    ev_loop_destroy(kitchen->loop);
    return 0;
}

static void let_loop_run(struct kitchen *kitchen)
{
    ev_run(kitchen->loop, 0); /* until no timer is left */
}

static void test_as_many_are_kept_as_the_maker_says(void **state)
{
    struct kitchen *kitchen = *state;

    let_loop_run(kitchen);
    assert_int_equal(kitchen->count, 2);
    spares_refill(&kitchen->spares);
    let_loop_run(kitchen);
    assert_int_equal(kitchen->count, 2);
}

static void test_the_oldest_is_taken_and_another_is_made_later(void **state)
{
    struct kitchen *kitchen = *state;

    let_loop_run(kitchen);
    assert_ptr_equal(spares_take(&kitchen->spares, "bread"), &kitchen->made[0]);
    assert_int_equal(kitchen->count, 2);
    let_loop_run(kitchen);
    assert_int_equal(kitchen->count, 3);
    assert_ptr_equal(spares_take(&kitchen->spares, "bread"), &kitchen->made[1]);
    assert_ptr_equal(spares_take(&kitchen->spares, "bread"), &kitchen->made[2]);
    assert_null(spares_take(&kitchen->spares, "bread"));
}

static void test_another_key_has_none(void **state)
{
    struct kitchen *kitchen = *state;

    let_loop_run(kitchen);
    assert_null(spares_take(&kitchen->spares, "cake"));
    let_loop_run(kitchen);
    assert_int_equal(kitchen->count, 2);
}

static void test_what_is_withdrawn_is_not_taken(void **state)
{
    struct kitchen *kitchen = *state;

    let_loop_run(kitchen);
    spare_withdraw(&kitchen->made[0]);
    assert_ptr_equal(spares_take(&kitchen->spares, "bread"), &kitchen->made[1]);
    spare_withdraw(&kitchen->made[1]);
    let_loop_run(kitchen);
    assert_int_equal(kitchen->count, 4);
}

static void test_a_maker_that_fails_is_asked_behind_the_next_start(void **state)
{
    struct kitchen *kitchen = *state;

    kitchen->is_broken = true;
    let_loop_run(kitchen);
    kitchen->is_broken = false;
    assert_null(spares_take(&kitchen->spares, "bread"));
    let_loop_run(kitchen);
    assert_int_equal(kitchen->count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_as_many_are_kept_as_the_maker_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_oldest_is_taken_and_another_is_made_later, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_another_key_has_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_withdrawn_is_not_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_maker_that_fails_is_asked_behind_the_next_start,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
