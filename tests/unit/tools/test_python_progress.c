/* What a caller is told while its environment is prepared: an interpreter that hangs is asked for
 * meanwhile, and the steps are the test's own. */
#include "server/tools/python/python_progress.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_tools.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"
#include "tests/unit/environments/fixture.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#define FLOOD_SECONDS 2.0

enum { NOTES = 64, NOTE_BYTES = 256 };

struct listener {
    struct fixture *fixture;
    struct environment *environment;
    struct registry *registry;
    struct python_host *python;
    struct principals *principals;
    struct tool_caller *caller;
    struct invocation invocation;
    json_t *arguments;
    char notes[NOTES][NOTE_BYTES];
    size_t count;
    double progress; /* of the last note */
    ev_timer flood;
    unsigned steps;
};

static void on_progress(struct invocation *invocation, double progress, double total,
                        const char *message)
{
    struct listener *listener = CONTAINER_OF(invocation, struct listener, invocation);

    assert_true(listener->count < NOTES);
    assert_true(listener->count == 0 || progress > listener->progress);
    assert_true(total < 0);
    listener->progress = progress;
    snprintf(listener->notes[listener->count++], NOTE_BYTES, "%s", message);
}

static void open_tool(struct listener *listener)
{
    struct error err = ERROR_INIT;
    const struct python_settings settings = {
        .loop = listener->fixture->loop,
        .catalog = listener->fixture->catalog,
        .executor = listener->fixture->executor,
        .workplace = listener->fixture->workplace,
        .default_environment = "slow",
    };

    listener->registry = registry_new();
    listener->python = python_host_new(&settings);
    assert_int_equal(python_tools_offer(listener->registry, listener->python, &err), 0);
    listener->principals = principals_new();
    listener->caller = tool_caller_new(listener->principals, "test", true);
}

/* A call that waits for its environment. */
static void listen(struct listener *listener)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *definition = NULL;
    AUTO_FREE char *path = NULL;

    *listener = (struct listener){.fixture = fixture_new(&(struct fixture_settings){0})};
    path = memory_format("%s/slow", listener->fixture->scratch);
    write_text(path, "#!/bin/sh\nexec sleep 60\n");
    assert_int_equal(chmod(path, 0700), 0);
    definition = memory_format("{\"type\": \"system\", \"executable\": \"%s\"}", path);
    listener->environment = fixture_environment(listener->fixture, "slow", definition);
    open_tool(listener);
    listener->arguments = json_pack("{s:s}", "code", "pass");
    listener->invocation = (struct invocation){
        .caller = listener->caller,
        .arguments = listener->arguments,
        .wants_progress = true,
        .progress = on_progress,
    };
    assert_int_equal(tool_prepare(&listener->invocation, listener->registry, "run_python", &err),
                     0);
    assert_int_equal(invocation_start(&listener->invocation, &err), OUTCOME_PENDING);
    while (listener->environment->state != ENVIRONMENT_PREPARING)
        ev_run(listener->fixture->loop, EVRUN_ONCE);
}

static void stop_listening(struct listener *listener)
{
    invocation_cancel(&listener->invocation);
    invocation_deinit(&listener->invocation);
    json_decref(listener->arguments);
    tool_caller_unref(listener->caller);
    principals_free(listener->principals);
    registry_free(listener->registry);
    python_host_free(listener->python);
    fixture_free(listener->fixture);
}

static void each_step_is_told_at_once(void **state)
{
    static const char *const steps[] = {"finding python", "creating venv", "installing numpy"};
    struct listener listener;

    (void)state;
    listen(&listener);
    for (size_t i = 0; i < 3; i++)
        environment_step(listener.environment, -1, "%s", steps[i]);
    environment_step(listener.environment, -1, "%s", steps[2]); /* no news */
    assert_int_equal(listener.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(listener.notes[i], steps[i]);
    stop_listening(&listener);
}

static void the_fraction_that_is_done_is_told(void **state)
{
    struct listener listener;

    (void)state;
    listen(&listener);
    environment_step(listener.environment, 0, "pulling layer %d of %d", 3, 7);
    environment_step(listener.environment, 0.419, "pulling layer %d of %d", 3, 7);
    environment_step(listener.environment, 1, "pulling layer %d of %d", 3, 7);
    assert_int_equal(listener.count, 3);
    assert_string_equal(listener.notes[0], "pulling layer 3 of 7 (0 %)");
    assert_string_equal(listener.notes[1], "pulling layer 3 of 7 (41 %)");
    assert_string_equal(listener.notes[2], "pulling layer 3 of 7 (100 %)");
    stop_listening(&listener);
}

static void on_flood(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct listener *listener = CONTAINER_OF(timer, struct listener, flood);

    (void)loop;
    (void)events;
    environment_step(listener->environment, -1, "file %u", ++listener->steps);
}

/* A few at once, and then no more than people can read; but the newest in the end. */
static void a_flood_of_steps_is_thinned(void **state)
{
    struct listener listener;
    char last[NOTE_BYTES];

    (void)state;
    listen(&listener);
    ev_timer_init(&listener.flood, on_flood, 0.01, 0.01);
    ev_timer_start(listener.fixture->loop, &listener.flood);
    fixture_run_for(listener.fixture, FLOOD_SECONDS);
    ev_timer_stop(listener.fixture->loop, &listener.flood);
    assert_in_range(listener.steps, 20, 210);
    assert_in_range(listener.count, 5, 14);
    fixture_run_for(listener.fixture, 1.2);
    snprintf(last, sizeof last, "file %u", listener.steps);
    assert_string_equal(listener.notes[listener.count - 1], last);
    stop_listening(&listener);
}

static void who_wants_no_progress_is_told_nothing(void **state)
{
    struct listener listener;

    (void)state;
    listen(&listener);
    listener.invocation.wants_progress = false;
    environment_step(listener.environment, -1, "installing numpy");
    assert_int_equal(listener.count, 0);
    stop_listening(&listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_is_told_at_once),
        cmocka_unit_test(the_fraction_that_is_done_is_told),
        cmocka_unit_test(a_flood_of_steps_is_thinned),
        cmocka_unit_test(who_wants_no_progress_is_told_nothing),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
