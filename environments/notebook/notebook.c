#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "environments/notebook/driver.h"
#include "environments/notebook/notebook_private.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The end of a cell */

static struct notebook *notebook_of(struct turn *turn)
{
    return CONTAINER_OF(turn, struct notebook, turn);
}

static void notebook_conclude(struct notebook *notebook)
{
    struct cell *cell = notebook_current(notebook);

    turn_leave(&notebook->turn);
    notebook_set_state(notebook, NOTEBOOK_RESTING);
    notebook_packages_release(STEAL_PTR(notebook->coming));
    notebook->count++;
    list_remove(&cell->link);
    cell->end = notebook->turn.end;
    cell_finish(cell);
    turn_renew(&notebook->turn);
    if (notebook->is_over)
        notebook_close(notebook, false);
    else
        notebook_schedule(notebook);
}

/* True while its Python is not ready for the current cell, which has no turn yet. */
static bool notebook_awaits_python(const struct notebook *notebook)
{
    return notebook->state == NOTEBOOK_STARTING || notebook->state == NOTEBOOK_BRINGING;
}

/* The current cell cannot be executed, nor can any other one. */
static void notebook_give_up(struct notebook *notebook)
{
    notebook->turn.end = RUN_FAILED;
    error_copy(&notebook_current(notebook)->error, &notebook->error);
    notebook->is_over = true;
    notebook_conclude(notebook);
}

static void notebook_on_shown(struct turn *turn)
{
    notebook_conclude(notebook_of(turn));
}

static void notebook_on_listed(struct turn *turn)
{
    const struct notebook *notebook = notebook_of(turn);

    turn_show(turn, notebook_current(notebook)->status == 0 && !notebook->is_over);
}

static void notebook_list(struct notebook *notebook)
{
    notebook->was_interrupted = notebook->turn.state == TURN_INTERRUPTED;
    notebook_current(notebook)->ended_at = clock_seconds();
    turn_end_work(&notebook->turn);
    turn_list(&notebook->turn);
}

void notebook_kill(struct notebook *notebook, enum run_end end)
{
    struct execution *execution = notebook->turn.execution;

    if (turn_is_working(&notebook->turn))
        turn_stop(&notebook->turn, end);
    else if (execution)
        execution->kill(execution);
}

/* It may also be about to end, and then says how. */
static void notebook_on_nonsense(struct notebook *notebook)
{
    notebook_link_close(notebook);
    notebook->error = (struct error)ERROR_INIT;
    error_set(
        &notebook->error, ERROR_UNAVAILABLE,
        "the session was ended: its code has closed or used a descriptor that is not its own");
    turn_start_deadline(&notebook->turn, NOTEBOOK_GRACE_SECONDS);
}

static void notebook_on_answer(struct notebook *notebook, int status)
{
    if (!turn_is_working(&notebook->turn)) {
        notebook_on_nonsense(notebook);
        return;
    }
    notebook->turn.execution->drain(notebook->turn.execution);
    cell_note_usage(notebook_current(notebook));
    notebook_current(notebook)->status = status;
    notebook_list(notebook);
}

/* Without its link the Python cannot say that a cell has ended. */
static void notebook_on_expired(struct turn *turn)
{
    if (notebook_of(turn)->channel.fd < 0)
        notebook_kill(notebook_of(turn), RUN_FAILED);
    else
        turn_expire(turn);
}

static void notebook_on_grown(struct directory_watch *watch)
{
    notebook_kill(CONTAINER_OF(watch, struct notebook, turn.growth), RUN_DISK_LIMIT);
}

static void notebook_on_measured(struct directory_watch *watch)
{
    (void)watch; /* changes made meanwhile count as new */
}

static void notebook_on_output(struct execution_listener *listener, enum process_stream stream,
                               const char *data, size_t length)
{
    turn_take_output(CONTAINER_OF(listener, struct turn, listener), stream, data, length);
}

/* The grace of a session without its link goes on: its code may say that a cell is over as often as
 * it likes. */
static void notebook_on_over(struct execution_listener *listener)
{
    struct turn *turn = CONTAINER_OF(listener, struct turn, listener);

    if (notebook_of(turn)->channel.fd >= 0)
        turn_end_deadline(turn);
}

/* Sets the error of cells that come after the end of the Python. */
static void notebook_explain_end(struct notebook *notebook)
{
    const struct process_end *end = &notebook->turn.execution_end;
    static const char rest[] = "; its variables are gone, and this code was not executed";

    notebook->error = (struct error)ERROR_INIT;
    if (end->failure[0])
        error_set(&notebook->error, ERROR_UNAVAILABLE, "%s", end->failure);
    else if (end->out_of_memory)
        error_set(&notebook->error, ERROR_UNAVAILABLE,
                  "the session has used more memory than its limit and has ended%s", rest);
    else if (end->out_of_disk || notebook->turn.growth.is_exceeded)
        error_set(&notebook->error, ERROR_UNAVAILABLE,
                  "the session has written more than its limit and has ended%s", rest);
    else if (notebook->is_copy && end->returncode == -SIGKILL)
        error_set(&notebook->error, ERROR_UNAVAILABLE,
                  "the session was killed, or that which it is a copy of has ended%s", rest);
    else if (end->returncode < 0)
        error_set(&notebook->error, ERROR_UNAVAILABLE, "the session has ended by signal %d (%s)%s",
                  -end->returncode, strsignal(-end->returncode), rest);
    else
        error_set(&notebook->error, ERROR_UNAVAILABLE,
                  "the session has ended with exit status %d%s", end->returncode, rest);
}

/* Its Python has ended while a cell was at work. */
static void notebook_judge(struct notebook *notebook)
{
    struct turn *turn = &notebook->turn;

    if (turn->execution_end.failure[0])
        turn->end = RUN_FAILED;
    else if (turn->end == RUN_ENDED && turn->execution_end.out_of_disk)
        turn->end = RUN_DISK_LIMIT;
    if (turn->end == RUN_FAILED)
        error_copy(&notebook_current(notebook)->error, &notebook->error);
}

static void notebook_on_ended(struct execution_listener *listener, const struct process_end *end)
{
    struct notebook *notebook = CONTAINER_OF(listener, struct notebook, turn.listener);
    struct turn *turn = &notebook->turn;
    bool was_cut = notebook->error.code != ERROR_NONE && end->returncode == -SIGKILL &&
                   !end->failure[0] && !ev_is_active(&turn->deadline);

    notebook->is_over = true;
    ev_timer_stop(notebook->loop, &turn->deadline);
    notebook_link_close(notebook);
    turn_note_end(turn, end);
    if (!was_cut)
        notebook_explain_end(notebook);
    if (notebook->is_closed)
        notebook_schedule(notebook);
    else if (notebook_awaits_python(notebook))
        notebook_give_up(notebook);
    else if (turn_is_working(turn) || turn->state == TURN_STOPPING) {
        notebook_judge(notebook);
        notebook_list(notebook);
    }
}

/* The way to its code */

static void notebook_on_looked(struct turn *turn)
{
    struct notebook *notebook = notebook_of(turn);
    struct cell *cell = notebook_current(notebook);

    if (notebook->is_over) {
        notebook_give_up(notebook);
        return;
    }
    if (!cell->request.done) {
        notebook_conclude(notebook);
        return;
    }
    directory_look_note(&turn->look);
    cell_note_usage_before(cell);
    cell->sent_at = clock_seconds();
    turn->sender = cell->request.sender;
    turn_work(turn, cell->request.timeout);
    if (notebook->channel.fd < 0)
        turn_start_deadline(turn, NOTEBOOK_GRACE_SECONDS); /* it is ending */
    else
        notebook_link_send(notebook, cell);
}

static void notebook_act(struct notebook *notebook)
{
    notebook_set_state(notebook, NOTEBOOK_ACTING);
    notebook_current(notebook)->prepared_at = clock_seconds();
    turn_look(&notebook->turn);
}

/* Only this cell fails if its files cannot be put there. */
static void notebook_put_files(struct notebook *notebook)
{
    struct execution *execution = notebook->turn.execution;
    struct cell *cell = notebook_current(notebook);

    if (environment_put_files(notebook->environment, notebook->directory, cell->request.files,
                              &cell->error) < 0) {
        notebook->turn.end = RUN_FAILED;
        notebook_conclude(notebook);
    } else if (execution->bring) {
        notebook_set_state(notebook, NOTEBOOK_BRINGING);
        execution->bring(execution);
    } else {
        notebook_act(notebook);
    }
}

/* The modules to import ahead in the next Python that starts like this one. */
static json_t *notebook_imports(const struct cell *cell)
{
    json_t *imports = cell->request.imports ? json_copy(cell->request.imports) : json_array();

    json_array_append_new(imports, json_string(NOTEBOOK_MODULE));
    return imports;
}

static int notebook_start_python(struct notebook *notebook, int theirs, struct error *err)
{
    struct cell *cell = notebook_current(notebook);
    AUTO_JSON json_t *imports = notebook_imports(cell);
    const char *kernel = environment_kernel(notebook->environment);
    const struct execution_request request = {
        .directory = working_directory_path(notebook->directory),
        .directory_fd = working_directory_fd(notebook->directory),
        .annex = working_directory_annex(notebook->directory),
        .script = notebook->claim.script,
        .code_file = notebook->claim.file,
        .program = kernel ? notebook_kernel_driver : notebook_driver,
        .recurrence = cell->request.recurrence,
        .imports = imports,
        .input = theirs,
        .tools = notebook->turn.tools ? notebook->turn.tools->descriptor : 0,
        .kernel = kernel,
        .variables = (const char *const *)notebook->variables,
        .isolation = notebook->isolation,
        .owner = notebook->owner,
    };

    notebook->turn.execution =
        environment_start(notebook->environment, &request, &notebook->turn.listener, err);
    cell->request.recurrence = NULL;
    notebook->has_annex = request.annex != NULL;
    return notebook->turn.execution ? 0 : -1;
}

/* In a sandbox the program may be laid over script.py, where people see the code of this cell. */
static int notebook_claim(struct notebook *notebook, struct error *err)
{
    const struct cell *cell = notebook_current(notebook);

    if (directory_claim_open(&notebook->claim, notebook->directory, SCRIPT_LAID_OVER, err) < 0)
        return -1;
    if (notebook->isolation == ISOLATION_DOCKER)
        directory_claim_offer_file(&notebook->claim);
    if (notebook->isolation != ISOLATION_SANDBOX || !cell->request.recurrence)
        return 0;
    return directory_claim_write(&notebook->claim, cell->code, cell->request.code_length, err);
}

static int notebook_check_start(const struct notebook *notebook, struct error *err)
{
    if (!environment_can_overlap(notebook->environment))
        return error_set(err, ERROR_UNAVAILABLE, "environment \"%s\" has no sessions: %s",
                         notebook->environment->name,
                         notebook->isolation == ISOLATION_DOCKER
                             ? "its calls share a container (keep_container_running)"
                             : "they need a PID namespace, which this machine does not give");
    if (working_directory_is_busy(notebook->directory, true))
        return error_set(err, ERROR_BUSY, "another run has the working directory to itself");
    return 0;
}

static int notebook_start(struct notebook *notebook, struct error *err)
{
    AUTO_CLOSE int theirs = -1;

    if (notebook_check_start(notebook, err) < 0) /* again: a preparation takes time */
        return -1;
    if (notebook_claim(notebook, err) < 0 || notebook_link_open(notebook, &theirs, err) < 0 ||
        notebook_start_python(notebook, theirs, err) < 0)
        return -1;
    (void)directory_watch_begin(&notebook->turn.growth, &notebook->claim, NULL);
    return 0;
}

/* It is not the time of a cell that a container takes to start, nor that files take to a node. */
static void notebook_use_python(struct notebook *notebook)
{
    if (notebook->turn.execution->is_starting)
        notebook_set_state(notebook, NOTEBOOK_STARTING);
    else
        notebook_put_files(notebook);
}

static void notebook_on_step(struct execution_listener *listener,
                             const struct preparation_step *step)
{
    struct notebook *notebook = CONTAINER_OF(listener, struct notebook, turn.listener);

    if (notebook->state == NOTEBOOK_STARTING)
        cell_tell_step(&notebook->waiter, step);
}

static void notebook_on_began(struct execution_listener *listener)
{
    struct notebook *notebook = CONTAINER_OF(listener, struct notebook, turn.listener);

    if (notebook->state != NOTEBOOK_STARTING)
        return;
    cell_tell_step(&notebook->waiter, NULL);
    notebook_put_files(notebook);
}

static void notebook_on_brought(struct execution_listener *listener)
{
    struct notebook *notebook = CONTAINER_OF(listener, struct notebook, turn.listener);

    if (notebook->state == NOTEBOOK_BRINGING)
        notebook_act(notebook);
}

/* Everything is prepared for the current cell. */
static void notebook_proceed(struct notebook *notebook)
{
    if (notebook->is_over) {
        notebook_set_state(notebook, NOTEBOOK_ACTING);
        notebook_give_up(notebook);
    } else if (notebook->turn.execution || notebook_start(notebook, &notebook->error) == 0) {
        notebook_use_python(notebook);
    } else {
        notebook_give_up(notebook);
    }
}

/* The packages of a cell could not be installed: only this cell fails. */
static void notebook_on_not_installed(struct notebook *notebook, const struct error *err)
{
    struct cell *cell = notebook_current(notebook);

    error_copy(&cell->error, err);
    (void)error_prefix(&cell->error, "nothing ran");
    notebook->turn.end = RUN_FAILED;
    notebook_conclude(notebook);
}

/* Its own environment is prepared. */
static void notebook_go_on(struct notebook *notebook)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    if (!notebook->turn.execution && notebook_check_start(notebook, &notebook->error) < 0) {
        notebook_give_up(notebook);
        return;
    }
    switch (notebook_install(notebook, &err)) {
    case OUTCOME_READY:
        notebook_proceed(notebook);
        break;
    case OUTCOME_FAILED:
        notebook_on_not_installed(notebook, &err);
        break;
    case OUTCOME_PENDING:
        break;
    }
}

static void notebook_on_installed(struct notebook *notebook, const struct error *err)
{
    if (err) {
        notebook_on_not_installed(notebook, err);
        return;
    }
    notebook_note_packages(notebook);
    notebook_proceed(notebook);
}

static void notebook_on_prepared(struct environment_waiter *waiter, const struct error *err)
{
    struct notebook *notebook = CONTAINER_OF(waiter, struct notebook, waiter);

    cell_tell_step(waiter, NULL);
    if (notebook_current(notebook)->extension) {
        notebook_on_installed(notebook, err);
    } else if (err) {
        error_copy(&notebook->error, err);
        notebook_give_up(notebook);
    } else {
        notebook_go_on(notebook);
    }
}

static void notebook_prepare(struct notebook *notebook)
{
    notebook_set_state(notebook, NOTEBOOK_PREPARING);
    switch (environment_prepare(notebook->environment, &notebook->waiter, &notebook->error)) {
    case OUTCOME_READY:
        notebook_go_on(notebook);
        break;
    case OUTCOME_FAILED:
        notebook_give_up(notebook);
        break;
    case OUTCOME_PENDING:
        break;
    }
}

static void notebook_begin(struct notebook *notebook)
{
    struct cell *cell = CONTAINER_OF(notebook->cells.next, struct cell, link);

    cell->began_at = clock_seconds();
    if (!notebook->turn.execution && !notebook->is_over) {
        notebook_prepare(notebook);
        return;
    }
    notebook_set_state(notebook, NOTEBOOK_PREPARING);
    if (notebook->is_over)
        notebook_proceed(notebook);
    else
        notebook_go_on(notebook);
}

/* From outside */

static void notebook_on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct notebook *notebook = CONTAINER_OF(timer, struct notebook, next);

    (void)loop;
    (void)events;
    if (notebook->is_closed && !notebook->turn.execution)
        notebook_free(notebook);
    else if (!notebook->is_closed && notebook->state == NOTEBOOK_RESTING &&
             !list_is_empty(&notebook->cells))
        notebook_begin(notebook);
}

static void notebook_on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct notebook *notebook = CONTAINER_OF(timer, struct notebook, idle);

    (void)loop;
    (void)events;
    if (lineage_carries_others(&notebook->lineage) ||
        notebook_is_busy(notebook)) /* with a cell that came when the time was up */
        notebook_start_idle(notebook);
    else
        notebook_close(notebook, true);
}

struct cell *notebook_submit(struct notebook *notebook, const struct cell_request *request)
{
    struct cell *cell = cell_new(notebook, request);

    list_append(&notebook->cells, &cell->link);
    notebook_schedule(notebook);
    return cell;
}

void cell_cancel(struct cell *cell)
{
    struct notebook *notebook = cell->notebook;

    cell->request.done = NULL;
    cell->request.recurrence = NULL;
    if (cell != notebook_current(notebook)) {
        cell_free(cell);
    } else if (notebook->state == NOTEBOOK_PREPARING || notebook_awaits_python(notebook)) {
        environment_forget_waiter(&notebook->waiter);
        notebook_conclude(notebook);
    } else {
        turn_orphan(&notebook->turn);
        if (notebook->turn.state == TURN_WORKING)
            turn_interrupt(&notebook->turn);
    }
}

/* A session that begins as a copy of another session */

/* Tells the Python of ORIGIN to make a copy, which has THEIRS for its cells. */
static int notebook_order_copy(struct notebook *notebook, struct notebook *origin, int theirs,
                               struct error *err)
{
    struct process_copy_ends ends;
    int ret;

    notebook->turn.execution =
        origin->turn.execution->copy(origin->turn.execution, &notebook->turn.listener, &ends, err);
    if (!notebook->turn.execution)
        return -1;
    ret = notebook_link_order(
        origin,
        (int[]){theirs, ends.streams[PROCESS_STDOUT], ends.streams[PROCESS_STDERR], ends.gate},
        err);
    process_copy_ends_close(&ends);
    return ret;
}

/* True if a cell's code is not sent yet: an order to copy would overtake it. */
static bool notebook_has_unsent(const struct notebook *origin)
{
    return origin->turn.state < TURN_WORKING && !list_is_empty(&origin->cells);
}

static bool notebook_is_installing(const struct notebook *origin)
{
    return origin->state == NOTEBOOK_PREPARING && notebook_current(origin)->extension;
}

/* Its Python is not below this server. */
static int notebook_refuse_copy(const struct environment *environment, struct error *err)
{
    const struct environment_machines *machines = environment_machines_of(environment);

    if (machines)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the session cannot be copied: it is on a node of \"%s\"", machines->name);
    return error_set(err, ERROR_UNAVAILABLE, "the session cannot be copied: it is in a container");
}

int notebook_begin_as_copy(struct notebook *notebook, struct notebook *origin, struct error *err)
{
    AUTO_CLOSE int theirs = -1;

    if (origin->is_over || !origin->turn.execution || origin->channel.fd < 0)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the session cannot be copied: it has no Python now");
    if (notebook_is_installing(origin))
        return error_set(err, ERROR_BUSY,
                         "the session cannot be copied until the packages of its cell are "
                         "installed; try again then");
    if (notebook_has_unsent(origin))
        return error_set(err, ERROR_BUSY,
                         "the session cannot be copied: a cell is about to begin; try again");
    if (environment_kernel(origin->environment))
        return error_set(err, ERROR_UNAVAILABLE,
                         "the session cannot be copied: it is in a Jupyter kernel");
    if (!origin->turn.execution->copy)
        return notebook_refuse_copy(origin->environment, err);
    if (working_directory_is_busy(notebook->directory, true))
        return error_set(err, ERROR_BUSY, "another run has the working directory to itself");
    if (directory_claim_open(&notebook->claim, notebook->directory, SCRIPT_LAID_OVER, err) < 0 ||
        notebook_link_open(notebook, &theirs, err) < 0)
        return -1;
    if (notebook_order_copy(notebook, origin, theirs, err) < 0)
        return error_prefix(err, "the session cannot be copied");
    notebook->is_copy = true;
    notebook->has_annex = origin->has_annex;
    notebook->knows_packages = origin->knows_packages;
    notebook_share_packages(notebook, origin);
    lineage_join(&notebook->lineage, &origin->lineage);
    (void)directory_watch_begin(&notebook->turn.growth, &notebook->claim, NULL);
    return 0;
}

static void notebook_init_watchers(struct notebook *notebook)
{
    notebook->turn.listener.began = notebook_on_began;
    notebook->turn.listener.step = notebook_on_step;
    notebook->turn.listener.output = notebook_on_output;
    notebook->turn.listener.brought = notebook_on_brought;
    notebook->turn.listener.over = notebook_on_over;
    notebook->turn.listener.ended = notebook_on_ended;
    notebook->waiter.prepared = notebook_on_prepared;
    notebook->waiter.progress = cell_tell_step;
    notebook->channel.answered = notebook_on_answer;
    notebook->channel.broken = notebook_on_nonsense;
    list_init(&notebook->waiter.link);
    notebook->turn.growth.founded = notebook_on_measured;
    notebook->turn.growth.exceeded = notebook_on_grown;
    notebook->turn.growth.finished = notebook_on_measured;
    ev_timer_init(&notebook->next, notebook_on_next, 0., 0.);
    ev_timer_init(&notebook->idle, notebook_on_idle, notebook->idle_seconds, 0.);
}

static const struct turn_ops notebook_turn_ops = {
    .looked = notebook_on_looked,
    .expired = notebook_on_expired,
    .listed = notebook_on_listed,
    .shown = notebook_on_shown,
};

struct notebook *notebook_new(const struct notebooks_settings *settings,
                              const struct notebook_request *request)
{
    struct notebook *notebook = notebook_make(settings, request, &notebook_turn_ops);

    notebook_init_watchers(notebook);
    ev_timer_start(settings->loop, &notebook->idle);
    return notebook;
}
