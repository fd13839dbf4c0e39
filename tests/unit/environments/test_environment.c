#include "environments/environment.h"

#include "base/memory.h"
#include "tests/unit/base/listening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* An environment that is prepared when the test says so. */
struct stub {
    struct environment environment;
    enum outcome answer; /* of the next preparation */
    unsigned begun;      /* how often it was told that it is used from now on */
    unsigned prepared;   /* how often its preparation was begun */
    unsigned started;    /* how often something was to be started in it */
    unsigned cancelled;  /* how often it was given up */
    const char *step;    /* of the next preparation, or NULL */
};

static struct stub stub; /* of the test that runs */

static void begin(struct environment *environment)
{
    CONTAINER_OF(environment, struct stub, environment)->begun++;
}

static enum outcome prepare(struct environment *environment, struct error *err)
{
    struct stub *one = CONTAINER_OF(environment, struct stub, environment);

    one->prepared++;
    if (one->step)
        environment_step(environment, -1, "%s", one->step);
    if (one->answer == OUTCOME_FAILED)
        error_set(err, ERROR_UNAVAILABLE, "not to be had");
    return one->answer;
}

static void cancel(struct environment *environment)
{
    CONTAINER_OF(environment, struct stub, environment)->cancelled++;
}

static bool is_prepared(const struct environment *environment)
{
    (void)environment;
    return false;
}

static struct execution *start(struct environment *environment,
                               const struct execution_request *request,
                               struct execution_listener *listener, struct error *err)
{
    (void)request;
    (void)listener;
    CONTAINER_OF(environment, struct stub, environment)->started++;
    error_set(err, ERROR_UNAVAILABLE, "started");
    return NULL;
}

static void stub_free(struct environment *environment)
{
    environment_deinit(environment);
}

static const struct environment_kind stub_kind = {.name = "stub"};

static const struct environment_ops stub_ops = {.kind = &stub_kind,
                                                .begin = begin,
                                                .is_prepared = is_prepared,
                                                .prepare = prepare,
                                                .cancel = cancel,
                                                .start = start,
                                                .free = stub_free};

static int set_up(void **state)
{
    struct environment_recipe recipe = {.name = "stub", .loop = EV_DEFAULT};

    (void)state;
    stub = (struct stub){.answer = OUTCOME_PENDING};
    environment_init(&stub.environment, &stub_ops, &recipe);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    environment_free(&stub.environment);
    return 0;
}

struct waiting {
    struct environment_waiter waiter;
    unsigned told;
    enum error_code code;
    char message[ERROR_MESSAGE_BYTES];
    char step[STEP_BYTES + 16]; /* the last one it was told */
    struct waiting *forgets;    /* another one that is forgotten when this one is told */
    struct waiting *begins_for; /* another one that begins to wait then */
};

static void on_progress(struct environment_waiter *waiter, const struct preparation_step *step)
{
    struct waiting *waiting = CONTAINER_OF(waiter, struct waiting, waiter);

    snprintf(waiting->step, sizeof waiting->step, "%s %g", step->text, step->fraction);
}

static void on_prepared(struct environment_waiter *waiter, const struct error *err)
{
    struct waiting *waiting = CONTAINER_OF(waiter, struct waiting, waiter);
    struct error ignored = ERROR_INIT;

    waiting->told++;
    waiting->code = err ? err->code : ERROR_NONE;
    snprintf(waiting->message, sizeof waiting->message, "%s", err ? err->message : "");
    if (waiting->forgets)
        environment_forget_waiter(&waiting->forgets->waiter);
    if (waiting->begins_for)
        assert_int_equal(
            environment_prepare(&stub.environment, &waiting->begins_for->waiter, &ignored),
            OUTCOME_PENDING);
}

static void begin_to_wait(struct waiting *waiting)
{
    struct error err = ERROR_INIT;

    *waiting = (struct waiting){.waiter.progress = on_progress, .waiter.prepared = on_prepared};
    assert_int_equal(environment_prepare(&stub.environment, &waiting->waiter, &err),
                     OUTCOME_PENDING);
}

static void test_one_preparation_serves_all_who_wait(void **state)
{
    struct waiting a;
    struct waiting b;

    (void)state;
    begin_to_wait(&a);
    begin_to_wait(&b);
    assert_int_equal(stub.prepared, 1);
    environment_end_preparation(&stub.environment, NULL);
    assert_int_equal(a.told, 1);
    assert_int_equal(b.told, 1);
    assert_int_equal(b.code, ERROR_NONE);
}

static void test_a_failure_is_told_to_all_and_the_next_one_tries_again(void **state)
{
    struct error failure = ERROR_INIT;
    struct waiting a;
    struct waiting b;

    (void)state;
    begin_to_wait(&a);
    error_set(&failure, ERROR_TIMEOUT, "too slow");
    environment_end_preparation(&stub.environment, &failure);
    assert_int_equal(a.code, ERROR_TIMEOUT);
    begin_to_wait(&b);
    assert_int_equal(stub.prepared, 2);
    environment_end_preparation(&stub.environment, NULL);
    assert_int_equal(a.told, 1);
    assert_int_equal(b.told, 1);
}

static void test_ready_and_failed_at_once_tell_nobody(void **state)
{
    struct waiting waiting = {.waiter.prepared = on_prepared};
    struct error err = ERROR_INIT;

    (void)state;
    stub.answer = OUTCOME_READY;
    assert_int_equal(environment_prepare(&stub.environment, &waiting.waiter, &err), OUTCOME_READY);
    stub.answer = OUTCOME_FAILED;
    assert_int_equal(environment_prepare(&stub.environment, &waiting.waiter, &err), OUTCOME_FAILED);
    assert_string_equal(err.message, "not to be had");
    assert_int_equal(waiting.told, 0);
}

static void test_who_is_forgotten_is_not_told(void **state)
{
    struct waiting a;
    struct waiting b;
    struct waiting c;

    (void)state;
    begin_to_wait(&a);
    begin_to_wait(&b);
    begin_to_wait(&c);
    environment_forget_waiter(&a.waiter);
    b.forgets = &c; /* while the others are being told */
    environment_end_preparation(&stub.environment, NULL);
    assert_int_equal(a.told, 0);
    assert_int_equal(b.told, 1);
    assert_int_equal(c.told, 0);
}

static void test_who_comes_while_others_are_told_waits_for_the_next(void **state)
{
    struct waiting a;
    struct waiting late = {.waiter.prepared = on_prepared};

    (void)state;
    begin_to_wait(&a);
    a.begins_for = &late;
    environment_end_preparation(&stub.environment, NULL);
    assert_int_equal(late.told, 0);
    assert_int_equal(stub.prepared, 2);
    environment_end_preparation(&stub.environment, NULL);
    assert_int_equal(late.told, 1);
}

static void test_steps_are_told_to_all_who_wait_and_named_in_the_error(void **state)
{
    struct error failure = ERROR_INIT;
    struct waiting a;
    struct waiting b;

    (void)state;
    begin_to_wait(&a);
    environment_step(&stub.environment, 0.5, "pulling layer %d of %d", 3, 7);
    assert_string_equal(a.step, "pulling layer 3 of 7 0.5");
    begin_to_wait(&b); /* in the middle of it */
    assert_string_equal(b.step, "pulling layer 3 of 7 0.5");
    environment_step(&stub.environment, -1, "installing numpy");
    assert_string_equal(b.step, "installing numpy -1");
    error_set(&failure, ERROR_UNAVAILABLE, "no such package");
    environment_end_preparation(&stub.environment, &failure);
    assert_string_equal(a.message,
                        "cannot prepare environment \"stub\": installing numpy: no such package");
    begin_to_wait(&a); /* the next one begins without a step */
    environment_end_preparation(&stub.environment, &failure);
    assert_string_equal(a.message, "no such package");
}

static void test_who_begins_a_preparation_is_told_its_first_step(void **state)
{
    struct waiting waiting;

    (void)state;
    stub.step = "finding python"; /* from inside `prepare` */
    begin_to_wait(&waiting);
    assert_string_equal(waiting.step, "finding python -1");
    environment_end_preparation(&stub.environment, NULL);
}

static void test_a_failure_at_once_names_its_step(void **state)
{
    struct waiting waiting = {.waiter.prepared = on_prepared};
    struct error err = ERROR_INIT;

    (void)state;
    stub.answer = OUTCOME_FAILED;
    stub.step = "finding python";
    assert_int_equal(environment_prepare(&stub.environment, &waiting.waiter, &err), OUTCOME_FAILED);
    assert_string_equal(err.message,
                        "cannot prepare environment \"stub\": finding python: not to be had");
}

static void test_a_preparation_is_given_up_when_the_last_one_stops_waiting(void **state)
{
    struct waiting a;
    struct waiting b;

    (void)state;
    begin_to_wait(&a);
    begin_to_wait(&b);
    environment_forget_waiter(&a.waiter);
    assert_int_equal(stub.cancelled, 0);
    environment_forget_waiter(&b.waiter);
    assert_int_equal(stub.cancelled, 1);
    environment_forget_waiter(&b.waiter); /* harmless */
    assert_int_equal(stub.cancelled, 1);
    begin_to_wait(&a);
    assert_int_equal(stub.prepared, 2);
    environment_end_preparation(&stub.environment, NULL);
    assert_int_equal(a.told, 1);
}

static void test_a_preparation_that_takes_too_long_is_given_up(void **state)
{
    struct waiting waiting;

    (void)state;
    stub.environment.settings.prepare_timeout = 0.05;
    stub.step = "building";
    begin_to_wait(&waiting);
    ev_run(EV_DEFAULT, 0); /* to the last timer */
    assert_int_equal(stub.cancelled, 1);
    assert_int_equal(waiting.code, ERROR_TIMEOUT);
    assert_non_null(strstr(waiting.message, "building: not done after 0.05 seconds"));
}

static void test_an_eager_preparation_is_given_up_when_the_server_stops(void **state)
{
    (void)state;
    stub.environment.settings.prepare = PREPARE_EAGER;
    environment_begin(&stub.environment);
    environment_stop(&stub.environment);
    assert_int_equal(stub.cancelled, 1);
    assert_true(environment_is_idle(&stub.environment));
}

static void test_nothing_is_done_with_a_path_that_leads_elsewhere(void **state)
{
    const struct execution_request request = {0};
    struct environment_waiter waiter = {0};
    struct error err = ERROR_INIT;
    struct error again = ERROR_INIT;
    char **paths = memory_new(2, sizeof *paths);

    (void)state;
    paths[0] = memory_copy_string("/usr/../etc");
    stub.environment.settings.paths = paths;
    stub.answer = OUTCOME_READY;
    assert_int_equal(environment_prepare(&stub.environment, &waiter, &err), OUTCOME_FAILED);
    assert_string_equal(err.message, "/usr/../etc leads elsewhere than it did when it was checked");
    assert_int_equal(stub.prepared, 0);
    assert_null(environment_start(&stub.environment, &request, NULL, &again));
    assert_int_equal(stub.started, 0);
    strcpy(paths[0], "/etc");
    err = (struct error)ERROR_INIT;
    again = (struct error)ERROR_INIT;
    assert_int_equal(environment_prepare(&stub.environment, &waiter, &err), OUTCOME_READY);
    assert_null(environment_start(&stub.environment, &request, NULL, &again));
    assert_int_equal(stub.prepared, 1);
    assert_int_equal(stub.started, 1);
}

/* What is said when it begins. */
static void assert_begins(const char *expected)
{
    struct listening listening = listen_to_stderr();

    environment_begin(&stub.environment);
    assert_heard(&listening, expected);
}

static void test_only_an_eager_one_is_prepared_before_anybody_waits(void **state)
{
    (void)state;
    assert_begins("");
    assert_int_equal(stub.begun, 1);
    assert_int_equal(stub.prepared, 0);
    stub.environment.settings.prepare = PREPARE_EAGER;
    assert_begins("");
    assert_int_equal(stub.prepared, 1);
    environment_end_preparation(&stub.environment, NULL);
}

static void test_an_eager_one_that_fails_at_once_says_so(void **state)
{
    (void)state;
    stub.environment.settings.prepare = PREPARE_EAGER;
    stub.answer = OUTCOME_FAILED;
    assert_begins("pyexecd: not to be had; the next call "
                  "that needs it tries again\n");
}

#define STUB_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STUB_TEST(test_one_preparation_serves_all_who_wait),
        STUB_TEST(test_a_failure_is_told_to_all_and_the_next_one_tries_again),
        STUB_TEST(test_ready_and_failed_at_once_tell_nobody),
        STUB_TEST(test_who_is_forgotten_is_not_told),
        STUB_TEST(test_who_comes_while_others_are_told_waits_for_the_next),
        STUB_TEST(test_steps_are_told_to_all_who_wait_and_named_in_the_error),
        STUB_TEST(test_who_begins_a_preparation_is_told_its_first_step),
        STUB_TEST(test_a_failure_at_once_names_its_step),
        STUB_TEST(test_a_preparation_is_given_up_when_the_last_one_stops_waiting),
        STUB_TEST(test_a_preparation_that_takes_too_long_is_given_up),
        STUB_TEST(test_an_eager_preparation_is_given_up_when_the_server_stops),
        STUB_TEST(test_nothing_is_done_with_a_path_that_leads_elsewhere),
        STUB_TEST(test_only_an_eager_one_is_prepared_before_anybody_waits),
        STUB_TEST(test_an_eager_one_that_fails_at_once_says_so),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
