#include "environments/process/forecast.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "environments/process/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct tree_wish no_wish;
static const struct tree_wish other_wish = {.all = true};

struct caller {
    struct forecasts forecasts;
    struct recurrence recurrence;
    struct buffer job;
    struct waiting python;
    struct waiting zygote;
    struct process_command command;
    bool has_zygote;
    int made;
    int ended;
    int loaded; /* how often the zygote was told what to import */
};

static struct caller *caller_of(struct forecast *forecast)
{
    return CONTAINER_OF(forecast->forecasts, struct caller, forecasts);
}

static struct waiting *make_zygote(struct expectation *expectation)
{
    struct caller *caller = caller_of(CONTAINER_OF(expectation, struct forecast, zygote));

    if (!caller->has_zygote) {
        expectation_close(expectation, 1e9);
        return NULL;
    }
    waiting_init(&caller->zygote);
    return &caller->zygote;
}

static void end_zygote(struct waiting *waiting)
{
    (void)waiting;
}

static bool load(struct waiting *zygote, struct preloads *preloads)
{
    (void)preloads;
    CONTAINER_OF(zygote, struct caller, zygote)->loaded++;
    return true;
}

static struct waiting *make_python(struct expectation *expectation)
{
    struct caller *caller = caller_of(CONTAINER_OF(expectation, struct forecast, pythons));

    caller->made++;
    waiting_init(&caller->python);
    return &caller->python;
}

static void end_python(struct waiting *waiting)
{
    CONTAINER_OF(waiting, struct caller, python)->ended++;
}

static const struct forecast_ways ways = {
    .zygotes = {.most = 8, .make = make_zygote, .end = end_zygote},
    .pythons = {.most = 8, .make = make_python, .end = end_python},
    .load = load,
};

static int set_up(void **state)
{
    struct caller *caller = NEW(struct caller);

    caller->forecasts = (struct forecasts){.loop = ev_loop_new(0), .ways = &ways};
    forecasts_init(&caller->forecasts);
    recurrence_init(&caller->recurrence);
    buffer_init(&caller->job, CONTROL_LIMIT_BYTES);
    caller->command = (struct process_command){.recurrence = &caller->recurrence, .mark = "a"};
    *state = caller;
    return 0;
}

static int tear_down(void **state)
{
    struct caller *caller = *state;

    recurrence_end(&caller->recurrence);
    forecasts_deinit(&caller->forecasts);
    assert_true(list_is_empty(&caller->forecasts.all));
    buffer_deinit(&caller->job);
    ev_loop_destroy(caller->forecasts.loop);
    free(caller);
    return 0;
}

static struct forecast *hold(struct caller *caller)
{
    return forecasts_hold(&caller->forecasts, &caller->command, &caller->job, &no_wish);
}

/* Until the Pythons that are due have been started. */
static void let_loop_run(struct caller *caller)
{
    for (int i = 0; i < 100 && ev_is_active(&caller->forecasts.start); i++)
        ev_run(caller->forecasts.loop, EVRUN_ONCE);
}

static void test_an_equal_command_has_the_same_forecast(void **state)
{
    struct caller *caller = *state;
    struct forecast *forecast = hold(caller);

    assert_ptr_equal(hold(caller), forecast);
    forecast_drop(forecast);
    forecast_drop(forecast);
    assert_true(list_is_empty(&caller->forecasts.all));
}

static void test_whatever_differs_is_another_forecast(void **state)
{
    struct caller *caller = *state;
    struct error err = ERROR_INIT;
    struct forecast *forecasts[5] = {hold(caller)};

    caller->command.mark = "b";
    forecasts[1] = hold(caller);
    caller->command.is_alone = true;
    forecasts[2] = hold(caller);
    assert_int_equal(buffer_append(&caller->job, "x", 1, &err), 0);
    forecasts[3] = hold(caller);
    forecasts[4] = forecasts_hold(&caller->forecasts, &caller->command, &caller->job, &other_wish);
    for (size_t i = 0; i < ARRAY_SIZE(forecasts); i++) {
        assert_int_equal(forecasts[i]->holders, 1);
        forecast_drop(forecasts[i]);
    }
}

static void test_what_is_due_waits_for_an_equal_command(void **state)
{
    struct caller *caller = *state;
    struct forecast *forecast = forecast_hold(hold(caller)); /* its Python has one hold */

    assert_null(forecast_take(forecast));
    forecast_expect(forecast);
    let_loop_run(caller);
    assert_int_equal(caller->made, 1);
    assert_ptr_equal(forecast_take(forecast), &caller->python);
    assert_null(forecast_take(forecast));
    forecast_drop(forecast);
}

static void test_a_command_that_comes_too_early_leaves_a_python_to_the_next(void **state)
{
    struct caller *caller = *state;
    struct forecast *forecast = forecast_hold(hold(caller));

    forecast_expect(forecast);
    assert_null(forecast_take(forecast));
    let_loop_run(caller);
    assert_int_equal(caller->made, 1);
    assert_ptr_equal(forecast_take(forecast), &caller->python);
    forecast_drop(forecast);
}

static void test_commands_without_a_pause_leave_a_zygote_time_to_import(void **state)
{
    struct caller *caller = *state;
    struct forecast *forecast;

    caller->has_zygote = true;
    forecast = hold(caller);
    forecast_expect(forecast_hold(forecast));
    let_loop_run(caller);
    forecasts_note_zygote(&caller->forecasts, &caller->zygote, 0);
    for (int i = 0; i < 3; i++) {
        assert_null(forecast_take(forecast));
        forecast_expect(forecast_hold(forecast));
        assert_int_equal(caller->loaded, i + 1);
    }
    forecast_drop(forecast);
}

static void test_what_waits_ends_with_its_user(void **state)
{
    struct caller *caller = *state;
    struct forecast *forecast = forecast_hold(hold(caller));

    forecast_expect(forecast);
    let_loop_run(caller);
    recurrence_end(&caller->recurrence);
    assert_int_equal(caller->ended, 1);
    forecast_expect(forecast_hold(forecast));
    let_loop_run(caller);
    assert_int_equal(caller->made, 1);
    forecast_drop(forecast);
}

static void test_what_is_due_is_not_started_when_its_user_ends(void **state)
{
    struct caller *caller = *state;
    struct forecast *forecast = forecast_hold(hold(caller));

    forecast_expect(forecast);
    recurrence_end(&caller->recurrence);
    assert_int_equal(forecast->holders, 1);
    let_loop_run(caller);
    assert_int_equal(caller->made, 0);
    forecast_drop(forecast);
}

static void test_each_byte_of_the_limits_is_compared(void **state)
{
    const struct process_limits limits = {.memory = 1, .file_size = 2, .processes = 3, .nice = 4};

    (void)state;
    assert_true(process_limits_are_equal(&limits, &limits));
    for (size_t i = 0; i < sizeof limits; i++) {
        struct process_limits others = limits;

        ((unsigned char *)&others)[i] ^= 1;
        assert_false(process_limits_are_equal(&limits, &others));
    }
}

static void test_each_member_of_a_wish_is_compared(void **state)
{
    const struct tree_wish wish = {0};
    const struct tree_wish others[] = {
        {.sandbox = LAYER_ROOT}, {.all = true}, {.needed = LAYER_NETWORK}};

    (void)state;
    assert_true(machine_wishes_are_equal(&wish, &wish));
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        assert_false(machine_wishes_are_equal(&wish, &others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_equal_command_has_the_same_forecast, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_whatever_differs_is_another_forecast, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_due_waits_for_an_equal_command, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_command_that_comes_too_early_leaves_a_python_to_the_next, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_commands_without_a_pause_leave_a_zygote_time_to_import,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_waits_ends_with_its_user, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_due_is_not_started_when_its_user_ends, set_up,
                                        tear_down),
        cmocka_unit_test(test_each_byte_of_the_limits_is_compared),
        cmocka_unit_test(test_each_member_of_a_wish_is_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
