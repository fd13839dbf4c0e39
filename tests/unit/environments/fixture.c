#include "base/memory.h"
#include "environments/capture.h"
#include "fixture.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BOUND_SECONDS 100.0

static struct environment *add(struct catalog *catalog, const char *name, const char *definition)
{
    const struct environment_settings defaults = {
        .timeout = 30,
        .max_timeout = 60,
        .limits = {.memory = 512 << 20, .processes = 64, .file_size = 1 << 30},
        .disk = 1 << 30,
        .output = 1 << 20,
    };
    json_t *parsed = json_loads(definition, 0, NULL);
    const char *key = NULL;
    struct error err = ERROR_INIT;

    assert_non_null(parsed);
    if (catalog_add(catalog, name, parsed, &defaults, &key, &err) < 0)
        fail_msg("%s: %s", key, err.message);
    json_decref(parsed);
    return catalog_find(catalog, name);
}

struct environment *fixture_environment(struct fixture *fixture, const char *name,
                                        const char *definition)
{
    return add(fixture->catalog, name, definition);
}

void fixture_replace(struct fixture *fixture, const char *definition)
{
    struct catalog *next = catalog_new(catalog_settings(fixture->catalog));

    add(next, "system", definition);
    catalog_replace(fixture->catalog, next);
}

static void open_host(struct fixture *fixture, unsigned without)
{
    const struct process_host_settings settings = {
        .loop = fixture->loop,
        .runner_path = getenv("RUNNER"),
        .policy = {.wanted = LAYERS_OF_TREES & ~without},
    };
    struct error err = ERROR_INIT;

    fixture->host = process_host_new(&settings, &err);
    if (!fixture->host)
        fail_msg("%s", err.message);
}

static void open_workplace(struct fixture *fixture, const struct fixture_settings *settings)
{
    struct error err = ERROR_INIT;

    fixture->workplace = workplace_new(
        &(struct workplace_settings){
            .loop = fixture->loop,
            .path = settings->has_path ? fixture->path : settings->path,
            .isolations = 1U << ISOLATION_NONE,
            .root = fixture->root,
            .keep_seconds = settings->keep_seconds > 0 ? settings->keep_seconds : 3600,
        },
        &err);
    if (!fixture->workplace)
        fail_msg("%s", err.message);
}

struct fixture *fixture_new(const struct fixture_settings *settings)
{
    struct fixture *fixture = NEW(struct fixture);
    unsigned queued = settings->queued_runs ? settings->queued_runs : 64;

    fixture->owns_loop = settings->loop == NULL;
    fixture->loop = settings->loop ? settings->loop : ev_loop_new(0);
    fixture->scratch = scratch_new();
    fixture->root = memory_format("%s/root", fixture->scratch);
    fixture->path = memory_format("%s/configured", fixture->scratch);
    open_host(fixture, settings->without);
    open_workplace(fixture, settings);
    fixture->catalog = catalog_new(&(struct catalog_settings){
        .loop = fixture->loop,
        .host = fixture->host,
        .state = fixture->scratch,
    });
    fixture_environment(fixture, "system",
                        "{\"type\": \"system\", \"executable\": \"/usr/bin/python3\"}");
    fixture->executor = executor_new(&(struct executor_settings){
        .loop = fixture->loop,
        .concurrent_runs = settings->concurrent_runs ? settings->concurrent_runs : 4,
        .queued_runs = queued,
        .queued_runs_per_client =
            settings->queued_runs_per_client ? settings->queued_runs_per_client : queued,
        .queued_runs_per_owner =
            settings->queued_runs_per_owner ? settings->queued_runs_per_owner : queued,
    });
    executor_client_init(&fixture->client);
    return fixture;
}

static void on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("not done within %g seconds", BOUND_SECONDS);
}

/* Runs the loop until IS_DONE says so. */
static void run_until(struct ev_loop *loop, bool (*is_done)(const void *data), const void *data)
{
    ev_timer bound;

    ev_now_update(loop);
    ev_timer_init(&bound, on_bound, BOUND_SECONDS, 0.);
    ev_timer_start(loop, &bound);
    while (!is_done(data))
        ev_run(loop, EVRUN_ONCE);
    ev_timer_stop(loop, &bound);
}

static bool is_idle(const void *data)
{
    const struct fixture *fixture = data;

    return executor_is_idle(fixture->executor) && process_host_is_idle(fixture->host);
}

void fixture_free(struct fixture *fixture)
{
    working_directory_unref(fixture->directory);
    executor_stop(fixture->executor);
    process_host_stop(fixture->host);
    run_until(fixture->loop, is_idle, fixture);
    executor_free(fixture->executor);
    process_host_free(fixture->host);
    catalog_free(fixture->catalog);
    workplace_free(fixture->workplace);
    if (fixture->owns_loop)
        ev_loop_destroy(fixture->loop);
    free(fixture->root);
    free(fixture->path);
    scratch_free(fixture->scratch);
    free(fixture);
}

struct working_directory *fixture_directory(struct fixture *fixture)
{
    struct error err = ERROR_INIT;

    if (!fixture->directory)
        fixture->directory =
            workplace_open(fixture->workplace, "tester", ISOLATION_NONE, NULL, &err);
    if (!fixture->directory)
        fail_msg("%s", err.message);
    return fixture->directory;
}

static char *copy_capture(const struct capture *capture)
{
    json_t *text = capture_text(capture, NULL);
    char *copy = memory_copy_string(json_string_value(text));

    json_decref(text);
    return copy;
}

static char *copy_or_null(const char *text)
{
    return text ? memory_copy_string(text) : NULL;
}

static void on_output(void *data, enum process_stream stream, const char *bytes, size_t length)
{
    struct call *call = data;

    (void)stream;
    (void)bytes;
    (void)length;
    call->outputs++;
}

static void on_done(void *data, const struct run_report *report)
{
    struct call *call = data;

    assert_false(call->is_done);
    call->is_done = true;
    call->order = call->fixture->done++;
    call->run = NULL;
    call->end = report->end;
    call->error = report->error;
    call->share = report->share;
    call->execution = report->execution;
    call->out = copy_capture(&report->streams[PROCESS_STDOUT]);
    call->err = copy_capture(&report->streams[PROCESS_STDERR]);
    call->files = json_incref(report->files);
    call->script = copy_or_null(report->script);
    call->working_directory = copy_or_null(report->working_directory);
    call->python_version = copy_or_null(report->python_version);
    call->total_seconds = report->total_seconds;
}

int call_submit_request(struct call *call, struct fixture *fixture, struct run_request *request,
                        struct error *err)
{
    *call = (struct call){.fixture = fixture};
    request->data = call;
    request->output = on_output;
    request->done = on_done;
    if (!request->directory)
        request->directory = fixture_directory(fixture);
    if (!request->environment)
        request->environment = catalog_find(fixture->catalog, "system");
    if (!request->client)
        request->client = &fixture->client;
    if (request->timeout <= 0)
        request->timeout = 30;
    request->code_length = strlen(request->code);
    call->run = executor_submit(fixture->executor, request, err);
    return call->run ? 0 : -1;
}

void call_submit_as(struct call *call, struct fixture *fixture, struct run_request *request)
{
    struct error err = ERROR_INIT;

    if (call_submit_request(call, fixture, request, &err) < 0)
        fail_msg("%s", err.message);
}

void call_submit(struct call *call, struct fixture *fixture, const char *code)
{
    call_submit_as(call, fixture, &(struct run_request){.code = code});
}

struct waited_calls {
    struct call *calls;
    size_t count;
};

static bool are_done(const void *data)
{
    const struct waited_calls *waited = data;

    for (size_t i = 0; i < waited->count; i++)
        if (!waited->calls[i].is_done)
            return false;
    return true;
}

void calls_wait(struct call *calls, size_t count)
{
    run_until(calls[0].fixture->loop, are_done, &(struct waited_calls){calls, count});
}

void calls_deinit(struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(calls[i].out);
        free(calls[i].err);
        free(calls[i].script);
        free(calls[i].working_directory);
        free(calls[i].python_version);
        json_decref(calls[i].files);
    }
}

void call_execute_as(struct call *call, struct fixture *fixture, struct run_request *request)
{
    call_submit_as(call, fixture, request);
    calls_wait(call, 1);
}

void call_execute(struct call *call, struct fixture *fixture, const char *code)
{
    call_execute_as(call, fixture, &(struct run_request){.code = code});
}

static void on_break(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

void fixture_run_for(struct fixture *fixture, double seconds)
{
    ev_timer timer;

    ev_now_update(fixture->loop);
    ev_timer_init(&timer, on_break, seconds, 0.);
    ev_timer_start(fixture->loop, &timer);
    ev_run(fixture->loop, 0);
    ev_timer_stop(fixture->loop, &timer);
}
