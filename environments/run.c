#include "environments/run_private.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/starter/starter.h"
#include "base/state.h"

#include <stdlib.h>
#include <string.h>

#define RUN_GRACE_SECONDS 0.5 /* for a script to write its output and its stack */

static const struct state run_states[] = {
    [RUN_WAITING] = {"waiting", 1 << RUN_PREPARING},
    [RUN_PREPARING] = {"preparing", 1 << RUN_ACTING | 1 << RUN_WAITING},
    [RUN_ACTING] = {"acting", 1 << RUN_PREPARING},
};

static const char *const run_end_names[] = {
    [RUN_ENDED] = "ended",
    [RUN_TIMED_OUT] = "timed out",
    [RUN_DISK_LIMIT] = "used too much disk",
    [RUN_FAILED] = "failed",
};

static void run_set_state(struct run *run, enum run_state state)
{
    state_change(run_states, run->state, state, "run %lu", run->number);
    run->state = state;
    if (state == RUN_PREPARING) {
        run->placed_at = clock_seconds();
        run->prepared_at = 0;
    }
}

bool run_is_cancelled(const struct run *run)
{
    return run->request.done == NULL;
}

/* The one way out: tells the owner, if there still is one, and frees the run. */
static void run_finish(struct run *run, const struct process_end *end)
{
    const struct run_report report = run_report_of(run, end);

    run_count(run, end);
    log_debug("run %lu %s%s environment=%s seconds=%.3f cpu=%.3f stdout=%zu stderr=%zu",
              run->number, run_end_names[run->turn.end],
              run_is_cancelled(run) ? " after it was cancelled" : "",
              run->request.environment->name, report.total_seconds, end->cpu_seconds,
              (size_t)run->turn.streams[PROCESS_STDOUT].total,
              (size_t)run->turn.streams[PROCESS_STDERR].total);
    executor_leave(run->executor, run);
    if (!run_is_cancelled(run))
        run->request.done(run->request.data, &report);
    run_free(run);
}

/* The end of a run whose script never ran; run->error says why. */
static void run_fail(struct run *run)
{
    const struct environment *environment = run->request.environment;
    const struct process_end end = {.receipt = environment->ops->expected_receipt(environment)};

    run->turn.end = RUN_FAILED;
    run->turn.changes.are_complete = true;
    run_finish(run, &end);
}

/* Output and end of the execution */

static struct run *run_of(struct turn *turn)
{
    return CONTAINER_OF(turn, struct run, turn);
}

static void run_tell_step(const struct run *run, const struct preparation_step *step)
{
    if (run->request.progress)
        run->request.progress(run->request.data, step);
}

static void run_on_step(struct execution_listener *listener, const struct preparation_step *step)
{
    run_tell_step(CONTAINER_OF(listener, struct run, turn.listener), step);
}

static void run_on_began(struct execution_listener *listener)
{
    struct run *run = CONTAINER_OF(listener, struct run, turn.listener);

    run_tell_step(run, NULL);
    if (run->turn.state == TURN_WORKING)
        turn_begin_deadline(&run->turn, run->request.timeout);
}

static void run_on_output(struct execution_listener *listener, enum process_stream stream,
                          const char *data, size_t length)
{
    struct run *run = CONTAINER_OF(listener, struct run, turn.listener);

    turn_take_output(&run->turn, stream, data, length);
    if (run->request.output)
        run->request.output(run->request.data, stream, data, length);
}

static void run_on_over(struct execution_listener *listener)
{
    turn_end_deadline(&CONTAINER_OF(listener, struct run, turn.listener)->turn);
}

static void run_on_grown(struct directory_watch *watch)
{
    struct turn *turn = CONTAINER_OF(watch, struct turn, growth);

    if (turn->state == TURN_WORKING)
        turn_stop(turn, RUN_DISK_LIMIT);
    else if (turn->state == TURN_INTERRUPTED)
        turn_stop(turn, RUN_TIMED_OUT);
}

static void run_on_shown(struct turn *turn)
{
    run_finish(run_of(turn), &turn->execution_end);
}

static void run_on_measured(struct directory_watch *watch)
{
    struct turn *turn = CONTAINER_OF(watch, struct turn, growth);
    const struct process_end *end = &turn->execution_end;

    run_judge(run_of(turn));
    turn_show(turn, end->returncode == 0 && !end->survivors);
}

static void run_on_listed(struct turn *turn)
{
    if (directory_watch_finish(&turn->growth, turn->look.now) == OUTCOME_READY)
        run_on_measured(&turn->growth);
}

/* True while the code of RUN would be delivered as it was. */
static bool run_is_well_delivered(const struct run *run)
{
    return run->claim.delivery == environment_delivery(run->request.environment);
}

/* Its script has not run: its way there begins again. */
static void run_begin_again(struct run *run)
{
    turn_leave(&run->turn);
    directory_watch_end(&run->turn.growth);
    directory_claim_close(&run->claim);
    run_begin(run);
}

static bool run_may_begin_again(const struct run *run, const struct process_end *end)
{
    return run->turn.state == TURN_WORKING &&
           ((end->vanished && !run->has_vanished) ||
            (end->refused && !run->was_refused && !run_is_well_delivered(run)));
}

static void run_on_ended(struct execution_listener *listener, const struct process_end *end)
{
    struct run *run = CONTAINER_OF(listener, struct run, turn.listener);

    run->turn.execution = NULL;
    if (run_may_begin_again(run, end)) {
        run->has_vanished |= end->vanished;
        run->was_refused |= end->refused;
        run_begin_again(run);
        return;
    }
    turn_note_end(&run->turn, end);
    turn_end_work(&run->turn);
    if (run_is_cancelled(run)) {
        run_judge(run);
        run_on_shown(&run->turn);
    } else {
        turn_list(&run->turn);
    }
}

/* The way to its script */

static int run_start_execution(struct run *run)
{
    const struct execution_request request = {
        .directory = working_directory_path(run->directory),
        .directory_fd = working_directory_fd(run->directory),
        .annex = working_directory_annex(run->directory),
        .script = run->claim.script,
        .code = run->claim.delivery == SCRIPT_IN_PLACE ? NULL : run->code,
        .code_length = run->request.code_length,
        .text = run->request.is_text ? run->code : NULL,
        .code_file = run->claim.file,
        .variables = (const char *const *)run->variables,
        .arguments = (const char *const *)run->arguments,
        .isolation = run->request.isolation,
        .recurrence = run->request.recurrence,
        .imports = run->request.imports,
        .owner = run->owner,
        .tools = run->turn.tools ? run->turn.tools->descriptor : 0,
        .timeout = turn_longest(&run->turn, run->request.timeout),
    };

    run->turn.execution =
        environment_start(run->request.environment, &request, &run->turn.listener, &run->error);
    return run->turn.execution ? 0 : -1;
}

static void run_launch(struct run *run)
{
    if (run_start_execution(run) < 0) {
        run_fail(run);
        return;
    }
    turn_work(&run->turn, run->turn.execution->is_starting ? 0 : run->request.timeout);
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
    run_go_on(CONTAINER_OF(watch, struct run, turn.growth));
}

/* The files are known; if they are many, their size is measured on its own. */
static void run_on_looked(struct turn *turn)
{
    directory_look_note(&turn->look);
    if (directory_watch_begin(&turn->growth, &run_of(turn)->claim, turn->look.before) ==
        OUTCOME_READY)
        run_go_on(run_of(turn));
}

/* Its directory gets the script and the files of the call, as its environment delivers them now. */
static int run_open_claim(struct run *run)
{
    enum script_delivery delivery = environment_delivery(run->request.environment);

    if (directory_claim_open(&run->claim, run->directory, delivery, &run->error) < 0 ||
        directory_claim_write(&run->claim, run->code, run->request.code_length, &run->error) < 0)
        return -1;
    return environment_put_files(run->request.environment, run->directory, run->files, &run->error);
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
    run_set_state(run, RUN_ACTING);
    turn_look(&run->turn);
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

/* The variables of the request, and the word to the starter that the policy of the environment
 * demands. */
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

/* Copies the members that the request only lends. */
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

static const struct turn_ops run_turn_ops = {
    .looked = run_on_looked,
    .expired = turn_expire,
    .listed = run_on_listed,
    .shown = run_on_shown,
};

static void run_init_turn(struct run *run)
{
    AUTO_FREE char *name = memory_format("run %lu", run->number);

    turn_init(&run->turn, &(struct turn_settings){
                              .ops = &run_turn_ops,
                              .name = name,
                              .loop = executor_loop(run->executor),
                              .environment = run->request.environment,
                              .directory = run->directory,
                              .picture_helper = run->request.picture_helper,
                              .tools = run->request.tools,
                              .grace_seconds = RUN_GRACE_SECONDS,
                          });
    run->turn.sender = run->request.sender;
    run->turn.listener.began = run_on_began;
    run->turn.listener.step = run_on_step;
    run->turn.listener.output = run_on_output;
    run->turn.listener.over = run_on_over;
    run->turn.listener.ended = run_on_ended;
    run->turn.growth.founded = run_on_founded;
    run->turn.growth.exceeded = run_on_grown;
    run->turn.growth.finished = run_on_measured;
}

struct run *run_new(struct executor *executor, const struct run_request *request,
                    unsigned long number)
{
    struct run *run = NEW(struct run);

    run->number = number;
    run_copy_request(run, request);
    environment_hold(request->environment);
    run->executor = executor;
    run->client = request->client;
    run->waiter.progress = run_on_progress;
    run->waiter.prepared = run_on_prepared;
    run->error.rest = &run->error_rest;
    run->submitted_at = clock_seconds();
    list_init(&run->link);
    list_init(&run->waiter.link);
    run_init_turn(run);
    return run;
}

void run_free(struct run *run)
{
    turn_deinit(&run->turn);
    directory_claim_close(&run->claim);
    working_directory_unref(run->directory);
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
    if (run->turn.state < TURN_WORKING) {
        environment_forget_waiter(&run->waiter);
        run_count(run, NULL);
        executor_leave(run->executor, run);
        run_free(run);
        return;
    }
    run->client = NULL;
    turn_orphan(&run->turn);
    if (turn_is_working(&run->turn))
        turn_stop(&run->turn, RUN_ENDED);
    else if (run->turn.state >= TURN_LISTING)
        run_on_shown(&run->turn);
}

const char *run_activity(const struct run *run)
{
    const char *step = run->request.environment->step.text;

    if (run->state == RUN_ACTING)
        return turn_activity(&run->turn);
    return run->state == RUN_PREPARING && *step ? step : run_states[run->state].name;
}

char *run_last_line(const struct run *run)
{
    return turn_last_line(&run->turn);
}

const struct capture *run_streams(const struct run *run)
{
    return run->turn.streams;
}
