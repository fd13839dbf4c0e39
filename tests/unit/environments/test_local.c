/* One execution of a real script, without a run around it. */
#include "environments/local.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "fixture.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct heard {
    struct execution_listener listener;
    struct execution *execution;               /* borrowed; NULL once it has ended */
    void (*said)(struct execution *execution); /* done to it when it first writes; or NULL */
    unsigned outputs;
    size_t total; /* bytes */
    char text[4096];
    struct process_end end;
};

static void heard_on_output(struct execution_listener *listener, enum process_stream stream,
                            const char *data, size_t length)
{
    struct heard *heard = CONTAINER_OF(listener, struct heard, listener);

    (void)stream;
    heard->total += length;
    strncat(heard->text, data, size_min(length, sizeof heard->text - strlen(heard->text) - 1));
    if (heard->outputs++ == 0 && heard->said)
        heard->said(heard->execution);
}

static void heard_on_ended(struct execution_listener *listener, const struct process_end *end)
{
    struct heard *heard = CONTAINER_OF(listener, struct heard, listener);

    heard->execution = NULL;
    heard->end = *end;
}

static void begin_to_execute(struct fixture *fixture, struct heard *heard, const char *code)
{
    AUTO_FREE char *script = memory_format("%s/script.py", fixture->scratch);
    const char *const arguments[] = {"-x", "a b", NULL};
    const struct execution_request request = {.directory = fixture->scratch,
                                              .script = script,
                                              .arguments = arguments,
                                              .owner = "somebody",
                                              .timeout = 30};
    struct error err = ERROR_INIT;

    write_text(script, code);
    heard->listener =
        (struct execution_listener){.output = heard_on_output, .ended = heard_on_ended};
    heard->execution = local_start(catalog_find(fixture->catalog, "system"), "/usr/bin/python3",
                                   &request, &heard->listener, &err);
    assert_non_null(heard->execution);
}

static void execute(struct fixture *fixture, struct heard *heard, const char *code)
{
    begin_to_execute(fixture, heard, code);
    for (int i = 0; heard->execution && i < 500; i++)
        fixture_run_for(fixture, 0.02);
    assert_null(heard->execution);
}

static void interrupt(struct execution *execution)
{
    execution->interrupt(execution);
}

static void kill_now(struct execution *execution)
{
    execution->kill(execution);
}

static void test_the_end_says_how_the_script_ended_and_what_held_it(void **state)
{
    struct fixture *fixture =
        fixture_new(&(struct fixture_settings){.without = LAYER_PID_NAMESPACE});
    struct heard heard = {0};

    (void)state;
    execute(fixture, &heard, "raise SystemExit(3)");
    assert_int_equal(heard.end.returncode, 3);
    assert_string_equal(heard.end.failure, "");
    assert_int_equal(heard.end.receipt.layers & LAYER_PID_NAMESPACE, 0);
    assert_true(heard.end.run_seconds > 0);
    fixture_free(fixture);
}

static void test_a_script_gets_its_arguments(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct heard heard = {0};

    (void)state;
    execute(fixture, &heard, "import sys\nprint(sys.argv[1:])");
    assert_string_equal(heard.text, "['-x', 'a b']\n");
    fixture_free(fixture);
}

static void test_an_interrupted_script_shows_where_it_stood(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct heard heard = {.said = interrupt};

    (void)state;
    execute(fixture, &heard, "import time\nprint('ready', flush=True)\ntime.sleep(20)\n");
    assert_non_null(strstr(heard.text, "script.py\", line"));
    assert_non_null(strstr(heard.text, "KeyboardInterrupt"));
    assert_int_equal(heard.end.returncode, -SIGINT);
    fixture_free(fixture);
}

static void test_a_killed_script_says_nothing_more(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct heard heard = {.said = kill_now};

    (void)state;
    execute(fixture, &heard, "import time\nprint('ready', flush=True)\ntime.sleep(20)\n");
    assert_string_equal(heard.text, "ready\n");
    assert_int_equal(heard.end.returncode, -SIGKILL);
    fixture_free(fixture);
}

static void hold(struct execution *execution)
{
    execution->hold(execution, true);
}

static const char much[] = "print('ready', flush=True)\n"
                           "import time\n"
                           "time.sleep(.2)\n"
                           "print('x' * 2000000, flush=True)\n"
                           "open('written', 'w')\n"
                           "print('end')\n";

static void test_a_script_whose_output_is_held_waits(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    AUTO_FREE char *written = memory_format("%s/written", fixture->scratch);
    struct heard heard = {.said = hold};

    (void)state;
    begin_to_execute(fixture, &heard, much);
    for (int i = 0; heard.outputs == 0 && i < 500; i++)
        fixture_run_for(fixture, 0.02);
    fixture_run_for(fixture, 1);
    assert_int_equal(heard.total, strlen("ready\n"));
    assert_int_not_equal(access(written, F_OK), 0);
    heard.execution->hold(heard.execution, false);
    for (int i = 0; heard.execution && i < 500; i++)
        fixture_run_for(fixture, 0.02);
    assert_null(heard.execution);
    assert_int_equal(heard.total, strlen("ready\n") + 2000001 + strlen("end\n"));
    assert_int_equal(access(written, F_OK), 0);
    fixture_free(fixture);
}

static void test_output_that_is_held_comes_before_the_end(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct heard heard = {.said = hold};

    (void)state;
    execute(fixture, &heard,
            "import time\nprint('ready', flush=True)\ntime.sleep(.2)\nprint('last')\n");
    assert_string_equal(heard.text, "ready\nlast\n");
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_says_how_the_script_ended_and_what_held_it),
        cmocka_unit_test(test_a_script_gets_its_arguments),
        cmocka_unit_test(test_an_interrupted_script_shows_where_it_stood),
        cmocka_unit_test(test_a_killed_script_says_nothing_more),
        cmocka_unit_test(test_a_script_whose_output_is_held_waits),
        cmocka_unit_test(test_output_that_is_held_comes_before_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
