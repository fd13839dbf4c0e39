#include "environments/run_private.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/starter/starter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define INTERRUPTED_SECONDS 0.5 /* for a script to write what it has, and where it stands */

static const char *const state_names[] = {
    [RUN_WAITING] = "waiting",         [RUN_PREPARING] = "preparing",
    [RUN_LOOKING] = "looking",         [RUN_RUNNING] = "running",
    [RUN_INTERRUPTED] = "interrupted", [RUN_STOPPING] = "stopping",
    [RUN_LISTING] = "listing files",   [RUN_SHOWING] = "reading pictures",
};

static const char *const end_names[] = {
    [RUN_ENDED] = "ended",
    [RUN_TIMED_OUT] = "timed out",
    [RUN_DISK_LIMIT] = "used too much disk",
    [RUN_FAILED] = "failed",
};

/* Where a run may go from each state, as bits. */
static const unsigned next_states[] = {
    [RUN_WAITING] = 1 << RUN_PREPARING,
    [RUN_PREPARING] = 1 << RUN_LOOKING | 1 << RUN_WAITING,
    [RUN_LOOKING] = 1 << RUN_RUNNING | 1 << RUN_PREPARING,
    [RUN_RUNNING] =
        1 << RUN_INTERRUPTED | 1 << RUN_STOPPING | 1 << RUN_LISTING | 1 << RUN_PREPARING,
    [RUN_INTERRUPTED] = 1 << RUN_STOPPING | 1 << RUN_LISTING,
    [RUN_STOPPING] = 1 << RUN_LISTING,
    [RUN_LISTING] = 1 << RUN_SHOWING,
    [RUN_SHOWING] = 0,
};

static struct ev_loop *loop_of(const struct run *run)
{
    return executor_loop(run->executor);
}

static void stop_watching(struct run *run)
{
    ev_timer_stop(loop_of(run), &run->deadline);
    directory_look_cancel(&run->look);
}

static void start_deadline(struct run *run, double seconds)
{
    ev_now_update(loop_of(run));
    ev_timer_set(&run->deadline, seconds, 0.);
    ev_timer_start(loop_of(run), &run->deadline);
}

static void run_set_state(struct run *run, enum run_state state)
{
    assert(next_states[run->state] & 1U << state);
    log_debug("run %lu: %s -> %s", run->number, state_names[run->state], state_names[state]);
    run->state = state;
    if (state == RUN_PREPARING) {
        run->placed_at = clock_seconds();
        run->prepared_at = 0;
    }
    if (state == RUN_RUNNING && !run->execution->is_starting)
        start_deadline(run, run->request.timeout);
    if (state == RUN_INTERRUPTED)
        start_deadline(run, INTERRUPTED_SECONDS);
    if (state == RUN_PREPARING || state == RUN_STOPPING || state == RUN_LISTING)
        stop_watching(run);
}

bool run_is_cancelled(const struct run *run)
{
    return run->request.done == NULL;
}

/* The one way out: tells the owner, if there still is one, and frees the run. */
static void run_finish(struct run *run, const struct execution_end *end)
{
    const struct run_report report = run_report_of(run, end);

    run_count(run, end);
    log_debug(
        "run %lu %s%s environment=%s seconds=%.3f cpu=%.3f stdout=%zu stderr=%zu", run->number,
        end_names[run->end], run_is_cancelled(run) ? " after it was cancelled" : "",
        run->request.environment->name, report.total_seconds, end->cpu_seconds,
        (size_t)run->streams[PROCESS_STDOUT].total, (size_t)run->streams[PROCESS_STDERR].total);
    executor_leave(run->executor, run);
    if (!run_is_cancelled(run))
        run->request.done(run->request.data, &report);
    run_free(run);
}

/* The end of a run whose script never ran; run->error says why. */
static void run_fail(struct run *run)
{
    const struct environment *environment = run->request.environment;
    const struct execution_end end = {.receipt = environment->ops->expected_receipt(environment)};

    run->end = RUN_FAILED;
    run->changes.are_complete = true;
    run_finish(run, &end);
}

/* Output and end of the execution */

static void run_on_began(struct execution_listener *listener)
{
    struct run *run = CONTAINER_OF(listener, struct run, listener);

    if (run->state == RUN_RUNNING)
        start_deadline(run, run->request.timeout);
}

static void run_on_output(struct execution_listener *listener, enum process_stream stream,
                          const char *data, size_t length)
{
    struct run *run = CONTAINER_OF(listener, struct run, listener);

    run->newest = stream;
    capture_append(&run->streams[stream], data, length);
    if (run->request.output)
        run->request.output(run->request.data, stream, data, length);
}

static void run_stop(struct run *run, enum run_end end)
{
    run->end = end;
    run_set_state(run, RUN_STOPPING);
    run->execution->kill(run->execution);
}

/* The script may ignore it, or make the most of the time that it gets. */
static void run_interrupt(struct run *run)
{
    run->end = RUN_TIMED_OUT;
    run_set_state(run, RUN_INTERRUPTED);
    run->execution->interrupt(run->execution);
}

static void run_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct run *run = CONTAINER_OF(timer, struct run, deadline);

    (void)loop;
    (void)events;
    if (run->state == RUN_RUNNING)
        run_interrupt(run);
    else
        run_stop(run, RUN_TIMED_OUT);
}

static void run_on_grown(struct directory_watch *watch)
{
    struct run *run = CONTAINER_OF(watch, struct run, growth);

    if (run->state == RUN_RUNNING)
        run_stop(run, RUN_DISK_LIMIT);
    else if (run->state == RUN_INTERRUPTED)
        run_stop(run, RUN_TIMED_OUT);
}

static void run_conclude(struct run *run)
{
    run_finish(run, &run->execution_end);
}

static void run_on_pictures(struct gallery *gallery)
{
    run_conclude(CONTAINER_OF(gallery, struct run, gallery));
}

/* What the process has left is known, unless nobody wants to know it any more. */
static void run_show(struct run *run)
{
    run_judge(run);
    if (!run_is_cancelled(run))
        run->changes = directory_look_changes(&run->look);
    if (run_has_pictures(run) && gallery_start(&run->gallery, working_directory_fd(run->directory),
                                               run->changes.files) == OUTCOME_PENDING)
        run_set_state(run, RUN_SHOWING);
    else
        run_conclude(run);
}

static void run_list(struct run *run)
{
    if (directory_look_start(&run->look, run->directory) == OUTCOME_READY)
        run_show(run);
}

static void run_on_measured(struct directory_watch *watch)
{
    run_list(CONTAINER_OF(watch, struct run, growth));
}

/* Its script has not run: its way there begins again. */
static void run_begin_again(struct run *run)
{
    directory_watch_end(&run->growth);
    directory_claim_close(&run->claim);
    run_begin(run);
}

static void run_on_ended(struct execution_listener *listener, const struct execution_end *end)
{
    struct run *run = CONTAINER_OF(listener, struct run, listener);

    run->execution = NULL;
    if (end->refused && run->state == RUN_RUNNING && !run_is_well_delivered(run)) {
        run_begin_again(run);
        return;
    }
    run->execution_end = *end;
    json_incref((json_t *)end->receipt.missing);
    json_incref((json_t *)end->receipt.devices);
    json_incref(end->stacks);
    run_set_state(run, RUN_LISTING);
    if (run_is_cancelled(run))
        run_show(run);
    else if (directory_watch_finish(&run->growth) == OUTCOME_READY)
        run_list(run);
}

/* The way to its script */

static void run_launch(struct run *run)
{
    if (run_start_execution(run) < 0) {
        run_fail(run);
        return;
    }
    run_set_state(run, RUN_RUNNING);
    log_debug("run %lu started environment=%s timeout=%g", run->number,
              run->request.environment->name, run->request.timeout);
}

/* The look before the run is over. It took a while: the environment may need preparation again, and
 * the machine may give less. */
static void run_go_on(struct run *run)
{
    if (environment_is_prepared(run->request.environment) && run_is_well_delivered(run))
        run_launch(run);
    else
        run_begin_again(run);
}

static void run_on_founded(struct directory_watch *watch)
{
    run_go_on(CONTAINER_OF(watch, struct run, growth));
}

/* The files are known; what they take is measured on its own. */
static void run_measure(struct run *run)
{
    directory_look_note(&run->look);
    if (directory_watch_begin(&run->growth, &run->claim) == OUTCOME_READY)
        run_go_on(run);
}

static void run_on_looked(struct directory_look *look)
{
    struct run *run = CONTAINER_OF(look, struct run, look);

    if (run->state == RUN_LOOKING)
        run_measure(run);
    else
        run_show(run);
}

/* Another run ends by itself, at its timeout at the latest; a session may stay for hours. */
static void run_wait_for_directory(struct run *run)
{
    if (executor_has_another_in(run->executor, run)) {
        run_set_state(run, RUN_WAITING);
        executor_requeue(run->executor, run);
        return;
    }
    error_set(&run->error, ERROR_BUSY,
              "a session is open in this working directory, and a call in environment \"%s\" needs "
              "the directory to itself: close the session first",
              run->request.environment->name);
    run_fail(run);
}

/* The environment is prepared. Another run may have taken the directory meanwhile, and only now
 * is it known whether scripts can be laid over each other. */
static void run_execute(struct run *run)
{
    run->prepared_at = clock_seconds();
    if (working_directory_is_busy(run->directory,
                                  environment_can_overlap(run->request.environment))) {
        run_wait_for_directory(run);
        return;
    }
    if (run_open_claim(run) < 0) {
        run_fail(run);
        return;
    }
    run_set_state(run, RUN_LOOKING);
    if (directory_look_start(&run->look, run->directory) == OUTCOME_READY)
        run_measure(run);
}

static void run_tell_step(const struct run *run, const struct preparation_step *step)
{
    if (run->request.progress)
        run->request.progress(run->request.data, step);
}

static void run_on_progress(struct environment_waiter *waiter, const struct preparation_step *step)
{
    run_tell_step(CONTAINER_OF(waiter, struct run, waiter), step);
}

static void run_on_prepared(struct environment_waiter *waiter, const struct error *err)
{
    struct run *run = CONTAINER_OF(waiter, struct run, waiter);

    run_tell_step(run, NULL);
    if (!err) {
        run_execute(run);
        return;
    }
    error_copy(&run->error, err);
    run_fail(run);
}

void run_begin(struct run *run)
{
    run_set_state(run, RUN_PREPARING);
    switch (environment_prepare(run->request.environment, &run->waiter, &run->error)) {
    case OUTCOME_READY:
        run_execute(run);
        break;
    case OUTCOME_FAILED:
        run_fail(run);
        break;
    case OUTCOME_PENDING:
        break;
    }
}

/* Those of the request, and what the policy of the environment says to the starter. */
static char **run_copy_variables(const struct run_request *request)
{
    static const char *const none[] = {NULL};
    const char *const *given = request->variables ? request->variables : none;
    size_t count = 0;
    char **copy;

    while (given[count])
        count++;
    copy = memory_new(count + 2, sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = memory_copy_string(given[i]);
    if (request->environment->settings.images == IMAGES_OFF)
        copy[count] = memory_copy_string(STARTER_WITHOUT_FIGURES);
    return copy;
}

/* What the request only lends. */
static void run_copy_request(struct run *run, const struct run_request *request)
{
    run->request = *request;
    run->request.code = NULL;
    run->request.variables = NULL;
    run->request.arguments = NULL;
    run->request.owner = NULL;
    run->request.directory = NULL;
    run->request.client = NULL;
    run->request.files = NULL;
    run->files = json_incref(request->files);
    json_incref(request->imports);
    run->directory = working_directory_ref(request->directory);
    run->code = memory_new(request->code_length + 1, 1);
    memcpy(run->code, request->code, request->code_length);
    run->variables = run_copy_variables(request);
    run->arguments = memory_copy_strings(request->arguments);
    run->owner = memory_copy_string(request->owner);
}

struct run *run_new(struct executor *executor, const struct run_request *request,
                    unsigned long number)
{
    struct run *run = NEW(struct run);
    size_t limit = request->environment->settings.output;

    run->number = number;
    run_copy_request(run, request);
    environment_hold(request->environment);
    run->executor = executor;
    run->client = request->client;
    run->waiter.progress = run_on_progress;
    run->waiter.prepared = run_on_prepared;
    run->listener.began = run_on_began;
    run->listener.output = run_on_output;
    run->listener.ended = run_on_ended;
    run->error.rest = &run->error_rest;
    run->submitted_at = clock_seconds();
    list_init(&run->link);
    list_init(&run->waiter.link);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        capture_init(&run->streams[i], limit);
    directory_look_init(&run->look, loop_of(run), run_on_looked);
    ev_timer_init(&run->deadline, run_on_deadline, 0., 0.);
    run->gallery = (struct gallery){
        .loop = loop_of(run),
        .host = request->environment->host,
        .helper = request->picture_helper,
        .done = run_on_pictures,
    };
    run->growth = (struct directory_watch){
        .loop = loop_of(run),
        .limit = request->environment->settings.disk,
        .founded = run_on_founded,
        .exceeded = run_on_grown,
        .finished = run_on_measured,
    };
    return run;
}

void run_free(struct run *run)
{
    stop_watching(run);
    directory_look_deinit(&run->look);
    directory_watch_end(&run->growth);
    gallery_deinit(&run->gallery);
    json_decref(run->changes.files);
    json_decref((json_t *)run->execution_end.receipt.missing);
    json_decref((json_t *)run->execution_end.receipt.devices);
    json_decref(run->execution_end.stacks);
    directory_claim_close(&run->claim);
    working_directory_unref(run->directory);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        capture_deinit(&run->streams[i]);
    environment_release(run->request.environment);
    memory_free_strings(run->variables);
    memory_free_strings(run->arguments);
    free(run->owner);
    json_decref(run->files);
    json_decref(run->request.imports);
    free(run->code);
    free(run);
}

void run_cancel(struct run *run)
{
    run->request.done = NULL;
    run->request.recurrence = NULL;
    run->request.output = NULL;
    run->request.progress = NULL;
    if (run->state < RUN_RUNNING) {
        environment_forget_waiter(&run->waiter);
        run_count(run, NULL);
        executor_leave(run->executor, run);
        run_free(run);
        return;
    }
    run->client = NULL;
    if (run->state == RUN_RUNNING || run->state == RUN_INTERRUPTED)
        run_stop(run, RUN_ENDED);
    else if (run->state >= RUN_LISTING)
        run_conclude(run);
}

const char *run_activity(const struct run *run)
{
    const char *step = run->request.environment->step.text;

    return run->state == RUN_PREPARING && *step ? step : state_names[run->state];
}

char *run_last_line(const struct run *run)
{
    enum process_stream other = run->newest == PROCESS_STDOUT ? PROCESS_STDERR : PROCESS_STDOUT;

    return capture_newest_line(&run->streams[run->newest], &run->streams[other]);
}
