/* The queue of runs: who gets a place, who waits and who is refused. */
#include "environments/executor.h"

#include "tests/unit/environments/fixture.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void submit_for(struct call *call, struct fixture *fixture, struct executor_client *client)
{
    call_submit_as(call, fixture, &(struct run_request){.code = "pass", .client = client});
}

static void test_places_are_given_to_clients_in_turn(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct executor_client others[2];
    struct call calls[12];

    (void)state;
    executor_client_init(&others[0]);
    executor_client_init(&others[1]);
    for (int i = 0; i < 10; i++)
        submit_for(&calls[i], fixture, &fixture->client);
    submit_for(&calls[10], fixture, &others[0]);
    submit_for(&calls[11], fixture, &others[1]);
    calls_wait(calls, 12);
    assert_in_range(calls[10].order, 0, 3);
    assert_in_range(calls[11].order, 0, 3);
    for (int i = 1; i < 10; i++) /* one client's runs stay in order */
        assert_true(calls[i].order > calls[i - 1].order);
    calls_deinit(calls, 12);
    fixture_free(fixture);
}

static void submit_of(struct call *call, struct fixture *fixture, struct executor_client *client,
                      const char *owner)
{
    struct run_request request = {
        .code = "import time; time.sleep(2)",
        .client = client,
        .owner = owner,
        .owner_runs = strcmp(owner, "alice") == 0 ? 1 : 0,
    };

    call_submit_as(call, fixture, &request);
}

/* Whichever client they come by; and those of others do not wait for it. */
static void test_no_more_runs_of_an_owner_go_than_may(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 4});
    struct executor_client clients[2];
    struct call calls[6];

    (void)state;
    executor_client_init(&clients[0]);
    executor_client_init(&clients[1]);
    for (int i = 0; i < 4; i++)
        submit_of(&calls[i], fixture, &clients[i % 2], "alice");
    submit_of(&calls[4], fixture, &clients[0], "bob");
    submit_of(&calls[5], fixture, &clients[1], "bob");
    fixture_run_for(fixture, 0.05);
    assert_int_equal(executor_going(fixture->executor), 3);
    assert_int_equal(executor_waiting(fixture->executor), 3);
    calls_wait(calls, 6);
    assert_true(calls[4].order < 3 && calls[5].order < 3);
    calls_deinit(calls, 6);
    fixture_free(fixture);
}

/* A run that goes until the test ends. */
static void submit_endless(struct call *call, struct fixture *fixture,
                           struct executor_client *client, const char *owner)
{
    struct run_request request = {
        .code = "import time; time.sleep(60)", .client = client, .owner = owner};

    call_submit_as(call, fixture, &request);
}

static void cancel_all(struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run_cancel(calls[i].run);
}

static void test_who_has_no_run_going_does_not_wait_for_those_of_others(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 2});
    struct executor_client others[2];
    struct call endless[4];
    struct call calls[2];

    (void)state;
    executor_client_init(&others[0]);
    executor_client_init(&others[1]);
    for (int i = 0; i < 4; i++)
        submit_endless(&endless[i], fixture, &fixture->client, "carol");
    fixture_run_for(fixture, 0.05);
    assert_int_equal(executor_going(fixture->executor), 2);
    submit_of(&calls[0], fixture, &others[0], "carol");
    submit_of(&calls[1], fixture, &others[1], "bob");
    calls_wait(calls, 2);
    assert_int_equal(executor_going(fixture->executor), 2);
    cancel_all(endless, 4);
    calls_deinit(calls, 2);
    fixture_free(fixture);
}

/* Of the places beyond the usual ones half are kept for owners that have none. */
static void test_many_clients_of_one_owner_leave_places_for_other_owners(void **state)
{
    enum { CLIENTS = 8 };
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 2});
    struct executor_client clients[CLIENTS];
    struct executor_client other;
    struct call endless[CLIENTS];
    struct call call;

    (void)state;
    executor_client_init(&other);
    for (int i = 0; i < CLIENTS; i++) {
        executor_client_init(&clients[i]);
        submit_endless(&endless[i], fixture, &clients[i], "alice");
    }
    fixture_run_for(fixture, 0.05);
    assert_int_equal(executor_going(fixture->executor), 3);
    submit_of(&call, fixture, &other, "bob");
    calls_wait(&call, 1);
    assert_int_equal(executor_going(fixture->executor), 3);
    cancel_all(endless, CLIENTS);
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

static const struct environment_machines two_machines = {.places = 2};

static const struct environment_machines *machines_of(const struct environment *environment)
{
    (void)environment;
    return &two_machines;
}

/* They have as many places as there are of them, whoever calls, and beside those of this machine.
 */
static void test_other_machines_have_places_of_their_own(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct environment *far = fixture_environment(fixture, "far", "{\"type\": \"system\"}");
    struct environment_ops ops = *far->ops;
    struct executor_client others[3];
    struct call endless[3];
    struct call call;

    (void)state;
    ops.machines = machines_of;
    far->ops = &ops;
    for (int i = 0; i < 3; i++) {
        executor_client_init(&others[i]);
        call_submit_as(&endless[i], fixture,
                       &(struct run_request){.code = "import time; time.sleep(60)",
                                             .client = &others[i],
                                             .environment = far,
                                             .owner = i == 0 ? "bob" : "carol"});
    }
    fixture_run_for(fixture, 0.05);
    assert_int_equal(executor_going(fixture->executor), 2);
    assert_int_equal(executor_waiting(fixture->executor), 1);
    submit_for(&call, fixture, &fixture->client);
    calls_wait(&call, 1);
    assert_int_equal(executor_going(fixture->executor), 2);
    cancel_all(endless, 3);
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

static void test_clients_of_one_owner_share_its_part_of_the_queue(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){
        .concurrent_runs = 2, .queued_runs = 8, .queued_runs_per_owner = 3});
    struct executor_client clients[2];
    struct run_request request = {.code = "pass", .owner = "alice"};
    struct error err = ERROR_INIT;
    struct call endless[5]; /* two that go, three that wait */
    struct call calls[2];

    (void)state;
    executor_client_init(&clients[0]);
    executor_client_init(&clients[1]);
    for (int i = 0; i < 5; i++) {
        submit_endless(&endless[i], fixture, &clients[i % 2], "alice");
        fixture_run_for(fixture, 0.01);
    }
    request.client = &clients[0];
    assert_int_equal(call_submit_request(&calls[0], fixture, &request, &err), -1);
    assert_int_equal(err.code, ERROR_BUSY);
    for (int i = 0; i < 2; i++) {
        request.client = NULL; /* one that has no run yet, of alice and of bob */
        request.owner = i ? "bob" : "alice";
        assert_int_equal(call_submit_request(&calls[i], fixture, &request, &err), 0);
        calls_wait(&calls[i], 1);
    }
    cancel_all(endless, 5);
    calls_deinit(calls, 2);
    fixture_free(fixture);
}

static void assert_refused(struct fixture *fixture, struct executor_client *client,
                           const char *message)
{
    struct run_request request = {.code = "pass", .client = client};
    struct error err = ERROR_INIT;
    struct call call;

    assert_int_equal(call_submit_request(&call, fixture, &request, &err), -1);
    assert_int_equal(err.code, ERROR_BUSY);
    assert_string_equal(err.message, message);
}

static void test_a_full_queue_is_busy_and_says_how_much(void **state)
{
    struct fixture *fixture =
        fixture_new(&(struct fixture_settings){.concurrent_runs = 2, .queued_runs = 3});
    struct call calls[6];

    (void)state;
    for (int i = 0; i < 5; i++)
        submit_for(&calls[i], fixture, NULL);
    assert_refused(fixture, NULL,
                   "the server is busy: 2 runs are going and 3 are waiting; try again in a few "
                   "seconds");
    fixture_run_for(fixture, 0.01); /* the same when they have their places */
    assert_refused(fixture, NULL,
                   "the server is busy: 2 runs are going and 3 are waiting; try again in a few "
                   "seconds");
    calls_wait(calls, 1);
    submit_for(&calls[5], fixture, NULL);
    calls_wait(calls, 6);
    calls_deinit(calls, 6);
    fixture_free(fixture);
}

static void test_one_client_cannot_fill_the_queue(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){
        .concurrent_runs = 1, .queued_runs = 8, .queued_runs_per_client = 2});
    struct executor_client other;
    struct call calls[4];

    (void)state;
    executor_client_init(&other);
    for (int i = 0; i < 3; i++)
        submit_for(&calls[i], fixture, NULL);
    assert_refused(fixture, NULL,
                   "the server is busy: 2 of your runs are waiting already; try again when some "
                   "have ended");
    submit_for(&calls[3], fixture, &other);
    calls_wait(calls, 4);
    calls_deinit(calls, 4);
    fixture_free(fixture);
}

static void set_concurrent_runs(struct fixture *fixture, unsigned count)
{
    executor_set_limits(fixture->executor, &(struct executor_settings){
                                               .concurrent_runs = count,
                                               .queued_runs = 64,
                                               .queued_runs_per_client = 64,
                                               .queued_runs_per_owner = 64,
                                           });
}

static void test_places_that_are_taken_away_are_not_given_out_again(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 3});
    struct call calls[6];

    (void)state;
    for (int i = 0; i < 3; i++)
        call_submit(&calls[i], fixture,
                    "import os, time\n"
                    "while not os.path.exists('go'): time.sleep(.01)\n");
    fixture_run_for(fixture, 0.1);
    set_concurrent_runs(fixture, 1);
    for (int i = 3; i < 6; i++)
        call_submit(&calls[i], fixture, i == 3 ? "open('go', 'w')" : "pass");
    fixture_run_for(fixture, 0.5);
    assert_int_equal(fixture->done, 0); /* all places are taken: three, where there is one */
    set_concurrent_runs(fixture, 4);
    calls_wait(calls, 6);
    calls_deinit(calls, 6);
    fixture_free(fixture);
}

static void test_runs_go_on_in_an_environment_that_was_replaced(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct call calls[3];

    (void)state;
    for (int i = 0; i < 2; i++) /* one goes, one waits */
        call_submit(&calls[i], fixture,
                    "import os, time; time.sleep(.3); print(os.environ.get('NEW'))");
    fixture_run_for(fixture, 0.1);
    fixture_replace(fixture, "{\"type\": \"system\", \"executable\": \"/usr/bin/python3\","
                             " \"environment\": {\"NEW\": \"yes\"}}");
    call_submit(&calls[2], fixture, "import os; print(os.environ.get('NEW'))");
    calls_wait(calls, 3);
    assert_string_equal(calls[0].out, "None\n");
    assert_string_equal(calls[1].out, "None\n");
    assert_string_equal(calls[2].out, "yes\n");
    calls_deinit(calls, 3);
    fixture_free(fixture);
}

/* Submits the next one from inside `done`, as a server does that works off a list. */
struct chain {
    struct fixture *fixture;
    int left;
};

static void on_link_done(void *data, const struct run_report *report);

static void submit_link(struct chain *chain)
{
    const struct run_request request = {
        .environment = catalog_find(chain->fixture->catalog, "system"),
        .directory = fixture_directory(chain->fixture),
        .client = &chain->fixture->client,
        .code = "pass",
        .code_length = 4,
        .timeout = 10,
        .data = chain,
        .done = on_link_done,
    };
    struct error err = ERROR_INIT;

    assert_non_null(executor_submit(chain->fixture->executor, &request, &err));
}

static void on_link_done(void *data, const struct run_report *report)
{
    struct chain *chain = data;

    assert_int_equal(report->end, RUN_ENDED);
    if (--chain->left > 0)
        submit_link(chain);
}

static void test_the_next_run_may_be_submitted_when_one_is_done(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct chain chain = {fixture, 5};

    (void)state;
    submit_link(&chain);
    while (chain.left > 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    fixture_free(fixture);
}

static void test_many_runs_leave_nothing_behind(void **state)
{
    enum { RUNS = 60 };
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct call calls[RUNS];
    int before;

    (void)state;
    call_execute(&calls[0], fixture, "pass");
    calls_deinit(calls, 1);
    fixture_run_for(fixture, 0.3); /* until the next runner is prepared */
    before = count_entries("/proc/self/fd");
    for (int i = 0; i < RUNS; i++)
        call_submit(&calls[i], fixture, "import os\nos.fork()\nprint(1)\n");
    calls_wait(calls, RUNS);
    calls_deinit(calls, RUNS);
    /* Fewer is never wrong: one of the first run may have been ending then. */
    for (int i = 0; i < 100 && count_entries("/proc/self/fd") > before; i++)
        fixture_run_for(fixture, 0.3);
    assert_true(count_entries("/proc/self/fd") <= before);
    assert_int_equal(count_entries(working_directory_path(directory)), 1); /* script.py */
    shell(fixture->root, "test -z \"$(ls private-*)\"");
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_are_given_to_clients_in_turn),
        cmocka_unit_test(test_no_more_runs_of_an_owner_go_than_may),
        cmocka_unit_test(test_who_has_no_run_going_does_not_wait_for_those_of_others),
        cmocka_unit_test(test_many_clients_of_one_owner_leave_places_for_other_owners),
        cmocka_unit_test(test_other_machines_have_places_of_their_own),
        cmocka_unit_test(test_clients_of_one_owner_share_its_part_of_the_queue),
        cmocka_unit_test(test_a_full_queue_is_busy_and_says_how_much),
        cmocka_unit_test(test_one_client_cannot_fill_the_queue),
        cmocka_unit_test(test_places_that_are_taken_away_are_not_given_out_again),
        cmocka_unit_test(test_runs_go_on_in_an_environment_that_was_replaced),
        cmocka_unit_test(test_the_next_run_may_be_submitted_when_one_is_done),
        cmocka_unit_test(test_many_runs_leave_nothing_behind),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
