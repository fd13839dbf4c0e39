/* Runs of real scripts in the system's Python, at each level of containment that exists here. */
#include "environments/executor.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "fixture.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>

static void test_a_script_runs_and_everything_is_reported(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct call call;

    (void)state;
    call_execute(&call, fixture, directory,
                 "import sys, os\n"
                 "print('hello', __name__, sys.argv[0] == __file__, os.getcwd())\n"
                 "print('oops', file=sys.stderr)\n"
                 "open('new.csv', 'w').write('a,b')\n"
                 "sys.exit(3)\n");
    AUTO_FREE char *expected =
        memory_format("hello __main__ True %s\n", working_directory_path(directory));
    AUTO_FREE char *script = memory_format("%s/script.py", working_directory_path(directory));

    assert_int_equal(call.end, RUN_ENDED);
    assert_int_equal(call.execution.returncode, 3);
    assert_string_equal(call.out, expected);
    assert_string_equal(call.err, "oops\n");
    assert_string_equal(call.script, script);
    assert_string_equal(call.working_directory, working_directory_handle(directory));
    assert_int_equal(strncmp(call.python_version, "3.", 2), 0);
    assert_true(call.outputs >= 2);
    assert_int_equal(json_array_size(call.files), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(call.files, 0), "path")),
                        "new.csv");
    calls_deinit(&call, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

/* Everybody's own code */

enum { SHARING = 50 };

/* Looks at its own source in every way there is, early and late. */
static char *self_aware_code(int number)
{
    return memory_format("import linecache, time, traceback\n"
                         "token = 'token-%d-'\n"
                         "def look():\n"
                         "    assert token in open(__file__).read(), 'file'\n"
                         "    assert token in open('script.py').read(), 'relative'\n"
                         "    linecache.clearcache()\n"
                         "    try:\n"
                         "        raise ValueError('token-%d-')\n"
                         "    except ValueError:\n"
                         "        text = traceback.format_exc()\n"
                         "    assert \"raise ValueError('token-%d-')\" in text, text\n"
                         "look()\n"
                         "time.sleep(%d / 1000)\n"
                         "look()\n"
                         "print(token, end='')\n",
                         number, number, number, number % 7 * 50);
}

static void assert_everybody_ran_his_own(struct fixture *fixture, int count)
{
    struct working_directory *directory = fixture_directory(fixture);
    struct call calls[SHARING];

    for (int i = 0; i < count; i++) {
        AUTO_FREE char *code = self_aware_code(i);

        call_submit(&calls[i], fixture, directory, code);
    }
    calls_wait(calls, (size_t)count);
    for (int i = 0; i < count; i++) {
        AUTO_FREE char *expected = memory_format("token-%d-", i);

        assert_string_equal(calls[i].error.message, "");
        assert_string_equal(calls[i].err, "");
        assert_string_equal(calls[i].out, expected);
    }
    AUTO_FREE char *newest = memory_format("token = 'token-%d-'", count - 1);
    AUTO_FREE char *text = read_text(calls[0].script);

    assert_non_null(strstr(text, newest));
    calls_deinit(calls, (size_t)count);
    working_directory_unref(directory);
}

static void test_fifty_overlapping_runs_in_one_directory_see_their_own_code(void **state)
{
    struct fixture *fixture =
        fixture_new(&(struct fixture_settings){.concurrent_runs = 16, .has_path = true});

    (void)state;
    assert_everybody_ran_his_own(fixture, SHARING);
    fixture_free(fixture);
}

static void test_without_namespaces_runs_in_one_directory_take_turns(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){
        .without = LAYERS_OF_TREES, .concurrent_runs = 16, .has_path = true});

    (void)state;
    assert_everybody_ran_his_own(fixture, 8);
    fixture_free(fixture);
}

/* Two servers, one configured directory: neither knows of the other's runs. */
static void test_servers_that_share_a_directory_run_their_own_code(void **state)
{
    struct fixture *one = fixture_new(&(struct fixture_settings){.has_path = true});
    struct working_directory *here = fixture_directory(one);
    struct fixture *two = fixture_new(
        &(struct fixture_settings){.path = working_directory_path(here), .loop = one->loop});
    struct working_directory *there = fixture_directory(two);
    struct call calls[20];

    (void)state;
    for (int i = 0; i < 20; i++) {
        AUTO_FREE char *code = self_aware_code(i);

        call_submit(&calls[i], i % 2 ? one : two, i % 2 ? here : there, code);
    }
    calls_wait(calls, 20);
    for (int i = 0; i < 20; i++)
        assert_string_equal(calls[i].err, "");
    calls_deinit(calls, 20);
    working_directory_unref(there);
    fixture_free(two);
    working_directory_unref(here);
    fixture_free(one);
}

/* Each run spoils script.py for all others, as far as it can. */
static void check_spoilers(unsigned without)
{
    static const char *const spoilers[] = {
        "import os\nos.remove('script.py')\nos.symlink('/etc/passwd', 'script.py')\n",
        "import os\nos.remove('script.py')\nos.mkdir('script.py')\nopen('script.py/x', 'w')\n",
        "import os\nos.remove('script.py')\nos.mkfifo('script.py')\n",
        "open('script.py', 'w').write('print(666)')\n",
        "import os, shutil\nshutil.rmtree(os.getcwd(), True)\n",
        "import os\nfor i in range(2000):\n    os.mkdir('d')\n    os.chdir('d')\n",
        "import os\nos.mkfifo('pipe')\nos.mkdir('shut', 0)\nopen('a\\nb', 'w')\nos.chmod('.', 0)",
    };
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.without = without});
    struct working_directory *directory = fixture_directory(fixture);

    for (size_t i = 0; i < ARRAY_SIZE(spoilers); i++) {
        struct call calls[2];

        call_execute(&calls[0], fixture, directory, spoilers[i]);
        call_execute(&calls[1], fixture, directory, "print(open(__file__).read(), end='')\n");
        assert_string_equal(calls[1].out, "print(open(__file__).read(), end='')\n");
        calls_deinit(calls, 2);
    }
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void test_a_script_that_replaces_script_py_harms_nobody_after_it(void **state)
{
    (void)state;
    check_spoilers(0);
    check_spoilers(LAYER_PID_NAMESPACE);
}

/* Never stops to put other code where script.py is. */
static const char replacer[] = "import os, itertools\n"
                               "def attempt(act, *arguments):\n"
                               "    try:\n"
                               "        act(*arguments)\n"
                               "    except OSError:\n"
                               "        pass\n"
                               "print('ready', flush=True)\n"
                               "for i in itertools.count():\n"
                               "    with open('planted', 'w') as file:\n"
                               "        file.write('print(666)')\n"
                               "    attempt(os.rename, 'planted', 'script.py')\n"
                               "    attempt(os.link, 'planted', 'script.py')\n"
                               "    attempt(os.rename, 'script.py', 'old%d.py' % (i % 8))\n"
                               "    attempt(os.remove, 'script.py')\n"
                               "    attempt(os.symlink, 'planted', 'script.py')\n";

enum { REPLACED_RUNS = 100 };

static void test_a_script_that_keeps_replacing_script_py_never_has_its_code_run(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 4});
    struct working_directory *directory = fixture_directory(fixture);
    struct call attackers[2];
    unsigned wrong = 0;

    (void)state;
    for (int i = 0; i < 2; i++)
        call_submit(&attackers[i], fixture, directory, replacer);
    while (attackers[0].outputs == 0 || attackers[1].outputs == 0)
        fixture_run_for(fixture, 0.01);
    for (int i = 0; i < REPLACED_RUNS; i++) {
        AUTO_FREE char *code = memory_format("print(%d)", i);
        AUTO_FREE char *expected = memory_format("%d\n", i);
        struct call call;

        call_execute(&call, fixture, directory, code);
        wrong += strcmp(call.out, expected) != 0;
        calls_deinit(&call, 1);
    }
    assert_int_equal(wrong, 0);
    for (int i = 0; i < 2; i++)
        run_cancel(attackers[i].run);
    working_directory_unref(directory);
    fixture_free(fixture);
}

/* The queue */

static void submit_for(struct call *call, struct fixture *fixture,
                       struct working_directory *directory, struct executor_client *client)
{
    struct run_request request = {.directory = directory, .code = "pass", .client = client};
    struct error err = ERROR_INIT;

    if (call_submit_request(call, fixture, &request, &err) < 0)
        fail_msg("%s", err.message);
}

static void test_places_are_given_to_clients_in_turn(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct working_directory *directory = fixture_directory(fixture);
    struct executor_client others[2];
    struct call calls[12];

    (void)state;
    executor_client_init(&others[0]);
    executor_client_init(&others[1]);
    for (int i = 0; i < 10; i++)
        submit_for(&calls[i], fixture, directory, &fixture->client);
    submit_for(&calls[10], fixture, directory, &others[0]);
    submit_for(&calls[11], fixture, directory, &others[1]);
    calls_wait(calls, 12);
    assert_in_range(calls[10].order, 0, 3);
    assert_in_range(calls[11].order, 0, 3);
    for (int i = 1; i < 10; i++) /* one client's runs stay in order */
        assert_true(calls[i].order > calls[i - 1].order);
    calls_deinit(calls, 12);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void submit_of(struct call *call, struct fixture *fixture,
                      struct working_directory *directory, struct executor_client *client,
                      const char *owner)
{
    struct run_request request = {
        .directory = directory,
        .code = "import time; time.sleep(0.2)",
        .client = client,
        .owner = owner,
        .owner_runs = strcmp(owner, "alice") == 0 ? 1 : 0,
    };
    struct error err = ERROR_INIT;

    if (call_submit_request(call, fixture, &request, &err) < 0)
        fail_msg("%s", err.message);
}

/* Whichever client they come by; and those of others do not wait for it. */
static void test_no_more_runs_of_an_owner_go_than_may(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 4});
    struct working_directory *directory = fixture_directory(fixture);
    struct executor_client clients[2];
    struct call calls[6];

    (void)state;
    executor_client_init(&clients[0]);
    executor_client_init(&clients[1]);
    for (int i = 0; i < 4; i++)
        submit_of(&calls[i], fixture, directory, &clients[i % 2], "alice");
    submit_of(&calls[4], fixture, directory, &clients[0], "bob");
    submit_of(&calls[5], fixture, directory, &clients[1], "bob");
    fixture_run_for(fixture, 0.05);
    assert_int_equal(executor_going(fixture->executor), 3);
    assert_int_equal(executor_waiting(fixture->executor), 3);
    calls_wait(calls, 6);
    assert_true(calls[4].order < 3 && calls[5].order < 3);
    calls_deinit(calls, 6);
    working_directory_unref(directory);
    fixture_free(fixture);
}

/* A run that goes until the test ends. */
static void submit_endless(struct call *call, struct fixture *fixture,
                           struct working_directory *directory, struct executor_client *client,
                           const char *owner)
{
    struct run_request request = {.directory = directory,
                                  .code = "import time; time.sleep(60)",
                                  .client = client,
                                  .owner = owner};
    struct error err = ERROR_INIT;

    if (call_submit_request(call, fixture, &request, &err) < 0)
        fail_msg("%s", err.message);
}

static void cancel_all(struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run_cancel(calls[i].run);
}

static void test_who_has_no_run_going_does_not_wait_for_those_of_others(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 2});
    struct working_directory *directory = fixture_directory(fixture);
    struct executor_client others[2];
    struct call endless[4];
    struct call calls[2];

    (void)state;
    executor_client_init(&others[0]);
    executor_client_init(&others[1]);
    for (int i = 0; i < 4; i++)
        submit_endless(&endless[i], fixture, directory, &fixture->client, "carol");
    fixture_run_for(fixture, 0.05);
    assert_int_equal(executor_going(fixture->executor), 2);
    submit_of(&calls[0], fixture, directory, &others[0], "carol");
    submit_of(&calls[1], fixture, directory, &others[1], "bob");
    calls_wait(calls, 2);
    assert_int_equal(executor_going(fixture->executor), 2);
    cancel_all(endless, 4);
    calls_deinit(calls, 2);
    working_directory_unref(directory);
    fixture_free(fixture);
}

/* Of the places beyond the usual ones half are kept for owners that have none. */
static void test_many_clients_of_one_owner_leave_places_for_other_owners(void **state)
{
    enum { CLIENTS = 8 };
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 2});
    struct working_directory *directory = fixture_directory(fixture);
    struct executor_client clients[CLIENTS];
    struct executor_client other;
    struct call endless[CLIENTS];
    struct call call;

    (void)state;
    executor_client_init(&other);
    for (int i = 0; i < CLIENTS; i++) {
        executor_client_init(&clients[i]);
        submit_endless(&endless[i], fixture, directory, &clients[i], "alice");
    }
    fixture_run_for(fixture, 0.05);
    assert_int_equal(executor_going(fixture->executor), 3);
    submit_of(&call, fixture, directory, &other, "bob");
    calls_wait(&call, 1);
    assert_int_equal(executor_going(fixture->executor), 3);
    cancel_all(endless, CLIENTS);
    calls_deinit(&call, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void test_clients_of_one_owner_share_its_part_of_the_queue(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){
        .concurrent_runs = 2, .queued_runs = 8, .queued_runs_per_owner = 3});
    struct working_directory *directory = fixture_directory(fixture);
    struct executor_client clients[2];
    struct run_request request = {.directory = directory, .code = "pass", .owner = "alice"};
    struct error err = ERROR_INIT;
    struct call endless[5]; /* two that go, three that wait */
    struct call calls[2];

    (void)state;
    executor_client_init(&clients[0]);
    executor_client_init(&clients[1]);
    for (int i = 0; i < 5; i++) {
        submit_endless(&endless[i], fixture, directory, &clients[i % 2], "alice");
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
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void assert_refused(struct fixture *fixture, struct working_directory *directory,
                           struct executor_client *client, const char *message)
{
    struct run_request request = {.directory = directory, .code = "pass", .client = client};
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
    struct working_directory *directory = fixture_directory(fixture);
    struct call calls[6];

    (void)state;
    for (int i = 0; i < 5; i++)
        submit_for(&calls[i], fixture, directory, NULL);
    assert_refused(fixture, directory, NULL,
                   "the server is busy: 2 runs are going and 3 are waiting; try again in a few "
                   "seconds");
    fixture_run_for(fixture, 0.01); /* the same when they have their places */
    assert_refused(fixture, directory, NULL,
                   "the server is busy: 2 runs are going and 3 are waiting; try again in a few "
                   "seconds");
    calls_wait(calls, 1);
    submit_for(&calls[5], fixture, directory, NULL);
    calls_wait(calls, 6);
    calls_deinit(calls, 6);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void test_one_client_cannot_fill_the_queue(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){
        .concurrent_runs = 1, .queued_runs = 8, .queued_runs_per_client = 2});
    struct working_directory *directory = fixture_directory(fixture);
    struct executor_client other;
    struct call calls[4];

    (void)state;
    executor_client_init(&other);
    for (int i = 0; i < 3; i++)
        submit_for(&calls[i], fixture, directory, NULL);
    assert_refused(fixture, directory, NULL,
                   "the server is busy: 2 of your runs are waiting already; try again when some "
                   "have ended");
    submit_for(&calls[3], fixture, directory, &other);
    calls_wait(calls, 4);
    calls_deinit(calls, 4);
    working_directory_unref(directory);
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
    struct working_directory *directory = fixture_directory(fixture);
    struct call calls[6];

    (void)state;
    for (int i = 0; i < 3; i++)
        call_submit(&calls[i], fixture, directory,
                    "import os, time\n"
                    "while not os.path.exists('go'): time.sleep(.01)\n");
    fixture_run_for(fixture, 0.1);
    set_concurrent_runs(fixture, 1);
    for (int i = 3; i < 6; i++)
        call_submit(&calls[i], fixture, directory, i == 3 ? "open('go', 'w')" : "pass");
    fixture_run_for(fixture, 0.5);
    assert_int_equal(fixture->done, 0); /* all places are taken: three, where there is one */
    set_concurrent_runs(fixture, 4);
    calls_wait(calls, 6);
    calls_deinit(calls, 6);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void test_runs_go_on_in_an_environment_that_was_replaced(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct working_directory *directory = fixture_directory(fixture);
    struct call calls[3];

    (void)state;
    for (int i = 0; i < 2; i++) /* one goes, one waits */
        call_submit(&calls[i], fixture, directory,
                    "import os, time; time.sleep(.3); print(os.environ.get('NEW'))");
    fixture_run_for(fixture, 0.1);
    fixture_replace(fixture, "{\"type\": \"system\", \"executable\": \"/usr/bin/python3\","
                             " \"environment\": {\"NEW\": \"yes\"}}");
    call_submit(&calls[2], fixture, directory, "import os; print(os.environ.get('NEW'))");
    calls_wait(calls, 3);
    assert_string_equal(calls[0].out, "None\n");
    assert_string_equal(calls[1].out, "None\n");
    assert_string_equal(calls[2].out, "yes\n");
    calls_deinit(calls, 3);
    working_directory_unref(directory);
    fixture_free(fixture);
}

/* Limits */

static void execute_in(struct call *call, struct fixture *fixture, const char *definition,
                       struct run_request *request)
{
    struct error err = ERROR_INIT;
    char name[32];

    snprintf(name, sizeof name, "%p", (const void *)definition);
    request->environment = fixture_environment(fixture, name, definition);
    if (call_submit_request(call, fixture, request, &err) < 0)
        fail_msg("%s", err.message);
    calls_wait(call, 1);
}

static void test_a_timeout_keeps_what_was_printed_and_written(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct run_request request = {
        .directory = directory,
        .timeout = 0.5,
        .code = "import signal, subprocess, time\n"
                "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                "print('so far', flush=True)\n"
                "open('half.txt', 'w').write('x')\n"
                "subprocess.Popen(['sleep', '97532'])\n"
                "time.sleep(60)\n",
    };
    struct error err = ERROR_INIT;
    struct call call;

    (void)state;
    assert_int_equal(call_submit_request(&call, fixture, &request, &err), 0);
    calls_wait(&call, 1);
    assert_int_equal(call.end, RUN_TIMED_OUT);
    assert_int_equal(call.execution.returncode, -SIGKILL);
    assert_string_equal(call.out, "so far\n");
    assert_int_equal(json_array_size(call.files), 1);
    assert_in_range(call.total_seconds * 1000, 1000, 2500);
    assert_int_not_equal(system("grep -zqsx 97532 /proc/[0-9]*/cmdline"), 0);
    calls_deinit(&call, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static const char SMALL_DISK[] = "{\"type\": \"system\", \"limits\": {\"disk\": 3000000}}";

static void test_a_run_that_fills_the_disk_is_killed(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct run_request request = {
        .directory = directory,
        .code = "import time\n"
                "for i in range(4):\n"
                "    open(f'{i}.bin', 'wb').write(b'x' * 1000000)\n"
                "print('written', flush=True)\n"
                "time.sleep(60)\n",
    };
    struct call call;

    (void)state;
    execute_in(&call, fixture, SMALL_DISK, &request);
    assert_int_equal(call.end, RUN_DISK_LIMIT);
    assert_string_equal(call.out, "written\n");
    assert_int_equal(json_array_size(call.files), 4);
    assert_in_range(call.total_seconds * 1000, 0, 3000);
    calls_deinit(&call, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void test_growth_is_looked_at_when_a_run_ends_too(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct run_request request = {
        .directory = directory,
        .code = "for i in range(4): open(f'{i}.bin', 'wb').write(b'x' * 1000000)\n",
    };
    struct call calls[2];

    (void)state;
    execute_in(&calls[0], fixture, SMALL_DISK, &request);
    assert_int_equal(calls[0].end, RUN_DISK_LIMIT);
    /* What was there before is not this one's. */
    call_execute(&calls[1], fixture, directory, "open('small', 'w').write('x')");
    assert_int_equal(calls[1].end, RUN_ENDED);
    calls_deinit(calls, 2);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void test_output_beyond_the_limit_is_counted(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct run_request request = {
        .directory = directory,
        .code = "import sys\nprint('head')\nsys.stdout.write('x' * 20000000)\nprint('\\ntail')\n",
    };
    struct call call;

    (void)state;
    execute_in(&call, fixture, "{\"type\": \"system\", \"limits\": {\"output\": 4096}}", &request);
    assert_int_equal(call.end, RUN_ENDED);
    assert_int_equal(strncmp(call.out, "head\nxxx", 8), 0);
    assert_non_null(strstr(call.out, "\n... [19995915 bytes left out] ...\n"));
    assert_string_equal(call.out + strlen(call.out) - 6, "\ntail\n");
    calls_deinit(&call, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

/* The environment */

static void test_a_script_sees_nothing_of_the_server(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct run_request request = {
        .directory = directory,
        .code = "import os, sys\n"
                "print(sorted(os.environ), repr(sys.stdin.read()), os.environ['TZ'],\n"
                "      os.environ['HOME'] == os.getcwd(), sys.flags.unbuffered if hasattr("
                "sys.flags, 'unbuffered') else 0)\n",
    };
    struct call call;

    (void)state;
    setenv("SECRET", "of the server", 1);
    execute_in(&call, fixture, "{\"type\": \"system\", \"environment\": {\"TZ\": \"UTC\"}}",
               &request);
    assert_string_equal(call.out,
                        "['HOME', 'LANG', 'LOKY_MAX_CPU_COUNT', 'NUMBA_NUM_THREADS', "
                        "'OMP_NUM_THREADS', 'PATH', 'POLARS_MAX_THREADS', "
                        "'PYTHONDONTWRITEBYTECODE', 'PYTHON_CPU_COUNT', 'RAYON_NUM_THREADS', "
                        "'TMPDIR', 'TZ'] '' UTC True 0\n");
    calls_deinit(&call, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void
test_an_environment_that_cannot_be_prepared_fails_the_run_and_is_tried_again(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    AUTO_FREE char *python = memory_format("%s/python3", fixture->scratch);
    AUTO_FREE char *definition =
        memory_format("{\"type\": \"system\", \"executable\": \"%s\"}", python);
    struct run_request request = {.directory = directory, .code = "print(1)"};
    struct error err = ERROR_INIT;
    struct call calls[3];

    (void)state;
    execute_in(&calls[0], fixture, definition, &request);
    assert_int_equal(calls[0].end, RUN_FAILED);
    assert_int_equal(calls[0].error.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(calls[0].error.message, "there is no Python interpreter at"));
    assert_null(calls[0].python_version);
    write_text(python, "#!/bin/sh\nexit 3\n");
    shell(fixture->scratch, "chmod 755 python3");
    assert_int_equal(call_submit_request(&calls[1], fixture, &request, &err), 0);
    calls_wait(&calls[1], 1);
    assert_int_equal(calls[1].end, RUN_FAILED);
    assert_non_null(strstr(calls[1].error.message, "is not a working Python 3"));
    write_text(python, "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n");
    assert_int_equal(call_submit_request(&calls[2], fixture, &request, &err), 0);
    calls_wait(&calls[2], 1);
    assert_string_equal(calls[2].out, "1\n");
    calls_deinit(calls, 3);
    working_directory_unref(directory);
    fixture_free(fixture);
}

/* Cancelling and stopping */

/* Not even at its timeout does it end by itself. */
static const char STUBBORN[] = "import signal, time\n"
                               "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                               "time.sleep(97533)\n";
static const char ENDLESS[] = "import subprocess, time\n"
                              "subprocess.Popen(['sleep', '97533'])\n"
                              "print('line one')\n"
                              "print('line two', flush=True)\n"
                              "time.sleep(60)\n";

static bool is_left_behind(void)
{
    return system("grep -zqsx 97533 /proc/[0-9]*/cmdline") == 0;
}

/* Cancels when the run is in STATE; `done` must never come, and nothing may be left. */
static void check_cancel_while(const char *wanted)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct working_directory *directory = fixture_directory(fixture);
    struct call call;
    struct call next;

    call_submit(&call, fixture, directory, ENDLESS);
    while (strcmp(run_activity(call.run), wanted) != 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    run_cancel(call.run);
    call_execute(&next, fixture, directory, "print('next')"); /* its place is free */
    assert_string_equal(next.out, "next\n");
    assert_false(call.is_done);
    assert_false(is_left_behind());
    calls_deinit(&next, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void test_a_cancelled_run_is_killed_and_never_told(void **state)
{
    (void)state;
    check_cancel_while("waiting");
    check_cancel_while("preparing");
    check_cancel_while("running");
}

static void check_cancel_after_timeout(const char *wanted)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct run_request request = {.directory = directory, .code = STUBBORN, .timeout = 2};
    struct error err = ERROR_INIT;
    struct call call;

    assert_int_equal(call_submit_request(&call, fixture, &request, &err), 0);
    while (strcmp(run_activity(call.run), wanted) != 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    run_cancel(call.run);
    working_directory_unref(directory);
    fixture_free(fixture);
    assert_false(call.is_done);
    assert_false(is_left_behind());
}

static void test_a_run_can_be_cancelled_while_it_is_being_ended(void **state)
{
    (void)state;
    check_cancel_after_timeout("interrupted");
    check_cancel_after_timeout("stopping");
}

/* The files of a large directory are looked at over many turns, before and after the run. */
static void check_cancel_amid_files(const char *wanted)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct working_directory *directory = fixture_directory(fixture);
    struct call call;
    struct call next;

    shell(working_directory_path(directory), "seq 3000 | xargs mkdir");
    call_submit(&call, fixture, directory, "pass");
    while (strcmp(run_activity(call.run), wanted) != 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    run_cancel(call.run);
    call_execute(&next, fixture, directory, "print('next')"); /* its place is free */
    assert_string_equal(next.out, "next\n");
    assert_false(call.is_done);
    calls_deinit(&next, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

static void test_a_run_can_be_cancelled_while_its_files_are_looked_at(void **state)
{
    (void)state;
    check_cancel_amid_files("looking");
    check_cancel_amid_files("listing files");
}

static void test_stopping_cancels_everything_and_takes_nothing_new(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 2});
    struct working_directory *directory = fixture_directory(fixture);
    struct run_request request = {.directory = directory, .code = "pass"};
    struct error err = ERROR_INIT;
    struct call calls[6];

    (void)state;
    for (int i = 0; i < 5; i++)
        call_submit(&calls[i], fixture, directory, ENDLESS);
    while (calls[0].outputs == 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    executor_stop(fixture->executor);
    assert_int_equal(call_submit_request(&calls[5], fixture, &request, &err), -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    working_directory_unref(directory);
    fixture_free(fixture);
    for (int i = 0; i < 5; i++)
        assert_false(calls[i].is_done);
    assert_false(is_left_behind());
}

static void test_the_newest_line_is_told_while_a_run_goes(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    AUTO_FREE char *line = NULL;
    struct call call;

    (void)state;
    call_submit(&call, fixture, directory, ENDLESS);
    assert_string_equal(run_activity(call.run), "waiting");
    assert_null(run_last_line(call.run));
    while (call.outputs == 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    assert_string_equal(run_activity(call.run), "running");
    line = run_last_line(call.run);
    assert_string_equal(line, "line two");
    run_cancel(call.run);
    working_directory_unref(directory);
    fixture_free(fixture);
}

/* Submits the next one from inside `done`, as a server does that works off a list. */
struct chain {
    struct fixture *fixture;
    struct working_directory *directory;
    int left;
};

static void on_link_done(void *data, const struct run_report *report);

static void submit_link(struct chain *chain)
{
    const struct run_request request = {
        .environment = catalog_find(chain->fixture->catalog, "system"),
        .directory = chain->directory,
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
    struct chain chain = {fixture, fixture_directory(fixture), 5};

    (void)state;
    submit_link(&chain);
    while (chain.left > 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    working_directory_unref(chain.directory);
    fixture_free(fixture);
}

static int count_descriptors(void)
{
    return count_entries("/proc/self/fd");
}

static unsigned long counted(const char *outcome)
{
    return metrics_read(METRIC_RUNS, "system", outcome);
}

static void test_runs_are_counted_by_their_outcome(void **state)
{
    static const char *const codes[] = {"pass", "raise SystemExit(1)",
                                        "import os; os.kill(os.getpid(), 9)"};
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 1});
    struct working_directory *directory = fixture_directory(fixture);
    unsigned long successes = counted("success");
    unsigned long errors = counted("error");
    unsigned long cancelled = counted("cancelled");
    unsigned long observed = metrics_read(METRIC_RUN_SECONDS, "system", NULL);
    struct call calls[5];

    (void)state;
    for (int i = 0; i < 3; i++)
        call_submit(&calls[i], fixture, directory, codes[i]);
    assert_int_equal(executor_waiting(fixture->executor), 3);
    calls_wait(calls, 3);
    for (int i = 3; i < 5; i++)
        call_submit(&calls[i], fixture, directory, ENDLESS);
    fixture_run_for(fixture, 0.3);
    assert_int_equal(executor_going(fixture->executor), 1);
    assert_int_equal(executor_waiting(fixture->executor), 1);
    run_cancel(calls[4].run);
    run_cancel(calls[3].run);
    calls_deinit(calls, 3);
    working_directory_unref(directory);
    fixture_free(fixture);
    assert_int_equal(counted("success"), successes + 1);
    assert_int_equal(counted("error"), errors + 2);
    assert_int_equal(counted("cancelled"), cancelled + 2);
    assert_int_equal(metrics_read(METRIC_RUN_SECONDS, "system", NULL), observed + 4);
}

static void test_many_runs_leave_nothing_behind(void **state)
{
    enum { RUNS = 60 };
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct call calls[RUNS];
    int before;

    (void)state;
    call_execute(&calls[0], fixture, directory, "pass");
    calls_deinit(calls, 1);
    fixture_run_for(fixture, 0.3); /* until the next runner is prepared */
    before = count_descriptors();
    for (int i = 0; i < RUNS; i++)
        call_submit(&calls[i], fixture, directory, "import os\nos.fork()\nprint(1)\n");
    calls_wait(calls, RUNS);
    calls_deinit(calls, RUNS);
    fixture_run_for(fixture, 0.3);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(count_entries(working_directory_path(directory)), 1); /* script.py */
    shell(fixture->root, "test -z \"$(ls private-*)\"");
    working_directory_unref(directory);
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_script_runs_and_everything_is_reported),
        cmocka_unit_test(test_fifty_overlapping_runs_in_one_directory_see_their_own_code),
        cmocka_unit_test(test_without_namespaces_runs_in_one_directory_take_turns),
        cmocka_unit_test(test_servers_that_share_a_directory_run_their_own_code),
        cmocka_unit_test(test_a_script_that_replaces_script_py_harms_nobody_after_it),
        cmocka_unit_test(test_a_script_that_keeps_replacing_script_py_never_has_its_code_run),
        cmocka_unit_test(test_places_are_given_to_clients_in_turn),
        cmocka_unit_test(test_no_more_runs_of_an_owner_go_than_may),
        cmocka_unit_test(test_who_has_no_run_going_does_not_wait_for_those_of_others),
        cmocka_unit_test(test_many_clients_of_one_owner_leave_places_for_other_owners),
        cmocka_unit_test(test_clients_of_one_owner_share_its_part_of_the_queue),
        cmocka_unit_test(test_a_full_queue_is_busy_and_says_how_much),
        cmocka_unit_test(test_one_client_cannot_fill_the_queue),
        cmocka_unit_test(test_places_that_are_taken_away_are_not_given_out_again),
        cmocka_unit_test(test_runs_go_on_in_an_environment_that_was_replaced),
        cmocka_unit_test(test_a_timeout_keeps_what_was_printed_and_written),
        cmocka_unit_test(test_a_run_that_fills_the_disk_is_killed),
        cmocka_unit_test(test_growth_is_looked_at_when_a_run_ends_too),
        cmocka_unit_test(test_output_beyond_the_limit_is_counted),
        cmocka_unit_test(test_a_script_sees_nothing_of_the_server),
        cmocka_unit_test(
            test_an_environment_that_cannot_be_prepared_fails_the_run_and_is_tried_again),
        cmocka_unit_test(test_a_cancelled_run_is_killed_and_never_told),
        cmocka_unit_test(test_a_run_can_be_cancelled_while_it_is_being_ended),
        cmocka_unit_test(test_a_run_can_be_cancelled_while_its_files_are_looked_at),
        cmocka_unit_test(test_stopping_cancels_everything_and_takes_nothing_new),
        cmocka_unit_test(test_the_newest_line_is_told_while_a_run_goes),
        cmocka_unit_test(test_the_next_run_may_be_submitted_when_one_is_done),
        cmocka_unit_test(test_runs_are_counted_by_their_outcome),
        cmocka_unit_test(test_many_runs_leave_nothing_behind),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
