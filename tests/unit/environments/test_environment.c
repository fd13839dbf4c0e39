#include "environments/environment.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* An environment that is prepared when the test says so. */
struct stub {
    struct environment environment;
    enum outcome answer; /* of the next preparation */
    unsigned prepared;   /* how often it was begun */
};

static enum outcome prepare(struct environment *environment, struct error *err)
{
    struct stub *stub = CONTAINER_OF(environment, struct stub, environment);

    stub->prepared++;
    if (stub->answer == OUTCOME_FAILED)
        error_set(err, ERROR_UNAVAILABLE, "not to be had");
    return stub->answer;
}

static const char *nothing(const struct environment *environment)
{
    (void)environment;
    return NULL;
}

static void stub_free(struct environment *environment)
{
    environment_deinit(environment);
}

static const struct environment_ops stub_ops = {"stub", prepare, nothing, nothing, stub_free};

static void stub_init(struct stub *stub)
{
    struct environment_recipe recipe = {.name = "stub"};

    *stub = (struct stub){.answer = OUTCOME_PENDING};
    environment_init(&stub->environment, &stub_ops, &recipe);
}

struct waiting {
    struct environment_waiter waiter;
    struct stub *stub;
    unsigned told;
    enum error_code code;
    struct waiting *forgets;    /* another one that is forgotten when this one is told */
    struct waiting *begins_for; /* another one that begins to wait then */
};

static void on_prepared(struct environment_waiter *waiter, const struct error *err)
{
    struct waiting *waiting = CONTAINER_OF(waiter, struct waiting, waiter);
    struct error ignored = ERROR_INIT;

    waiting->told++;
    waiting->code = err ? err->code : ERROR_NONE;
    if (waiting->forgets)
        environment_forget_waiter(&waiting->forgets->waiter);
    if (waiting->begins_for)
        assert_int_equal(environment_prepare(&waiting->stub->environment,
                                             &waiting->begins_for->waiter, &ignored),
                         OUTCOME_PENDING);
}

static void wait_for(struct waiting *waiting, struct stub *stub)
{
    struct error err = ERROR_INIT;

    *waiting = (struct waiting){.waiter.prepared = on_prepared, .stub = stub};
    assert_int_equal(environment_prepare(&stub->environment, &waiting->waiter, &err),
                     OUTCOME_PENDING);
}

static void test_one_preparation_serves_all_who_wait(void **state)
{
    struct stub stub;
    struct waiting a;
    struct waiting b;

    (void)state;
    stub_init(&stub);
    wait_for(&a, &stub);
    wait_for(&b, &stub);
    assert_int_equal(stub.prepared, 1);
    environment_prepared(&stub.environment, NULL);
    assert_int_equal(a.told, 1);
    assert_int_equal(b.told, 1);
    assert_int_equal(b.code, ERROR_NONE);
    environment_free(&stub.environment);
}

static void test_a_failure_is_told_to_all_and_the_next_one_tries_again(void **state)
{
    struct error failure = ERROR_INIT;
    struct stub stub;
    struct waiting a;
    struct waiting b;

    (void)state;
    stub_init(&stub);
    wait_for(&a, &stub);
    error_set(&failure, ERROR_TIMEOUT, "too slow");
    environment_prepared(&stub.environment, &failure);
    assert_int_equal(a.code, ERROR_TIMEOUT);
    wait_for(&b, &stub);
    assert_int_equal(stub.prepared, 2);
    environment_prepared(&stub.environment, NULL);
    assert_int_equal(a.told, 1);
    assert_int_equal(b.told, 1);
    environment_free(&stub.environment);
}

static void test_ready_and_failed_at_once_tell_nobody(void **state)
{
    struct stub stub;
    struct waiting waiting = {.waiter.prepared = on_prepared};
    struct error err = ERROR_INIT;

    (void)state;
    stub_init(&stub);
    stub.answer = OUTCOME_READY;
    assert_int_equal(environment_prepare(&stub.environment, &waiting.waiter, &err), OUTCOME_READY);
    stub.answer = OUTCOME_FAILED;
    assert_int_equal(environment_prepare(&stub.environment, &waiting.waiter, &err), OUTCOME_FAILED);
    assert_string_equal(err.message, "not to be had");
    assert_int_equal(waiting.told, 0);
    environment_free(&stub.environment);
}

static void test_who_is_forgotten_is_not_told(void **state)
{
    struct stub stub;
    struct waiting a;
    struct waiting b;
    struct waiting c;

    (void)state;
    stub_init(&stub);
    wait_for(&a, &stub);
    wait_for(&b, &stub);
    wait_for(&c, &stub);
    environment_forget_waiter(&a.waiter);
    b.forgets = &c; /* while the others are being told */
    environment_prepared(&stub.environment, NULL);
    assert_int_equal(a.told, 0);
    assert_int_equal(b.told, 1);
    assert_int_equal(c.told, 0);
    environment_free(&stub.environment);
}

static void test_who_comes_while_others_are_told_waits_for_the_next(void **state)
{
    struct stub stub;
    struct waiting a;
    struct waiting late = {.waiter.prepared = on_prepared};

    (void)state;
    stub_init(&stub);
    wait_for(&a, &stub);
    a.begins_for = &late;
    environment_prepared(&stub.environment, NULL);
    assert_int_equal(late.told, 0);
    assert_int_equal(stub.prepared, 2);
    environment_prepared(&stub.environment, NULL);
    assert_int_equal(late.told, 1);
    environment_free(&stub.environment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_preparation_serves_all_who_wait),
        cmocka_unit_test(test_a_failure_is_told_to_all_and_the_next_one_tries_again),
        cmocka_unit_test(test_ready_and_failed_at_once_tell_nobody),
        cmocka_unit_test(test_who_is_forgotten_is_not_told),
        cmocka_unit_test(test_who_comes_while_others_are_told_waits_for_the_next),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
