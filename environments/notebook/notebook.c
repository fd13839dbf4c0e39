#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "environments/notebook/driver.h"
#include "environments/notebook/kernel_check.h"
#include "environments/notebook/notebook_private.h"
#include "environments/run_files.h"

#include <signal.h>
#include <string.h>

/* The end of a cell */

static void notebook_conclude(struct notebook *notebook)
{
    struct cell *cell = notebook_current(notebook);

    notebook_set_state(notebook, NOTEBOOK_RESTING);
    notebook->count++;
    list_remove(&cell->link);
    cell_finish(cell);
    notebook_renew(notebook);
    if (notebook->is_over)
        notebook_close(notebook, false);
    else
        notebook_schedule(notebook);
}

/* The current cell cannot be executed, nor can any other one. */
static void notebook_give_up(struct notebook *notebook)
{
    struct cell *cell = notebook_current(notebook);

    cell->end = RUN_FAILED;
    error_copy(&cell->error, &notebook->error);
    notebook->is_over = true;
    notebook_conclude(notebook);
}

static void notebook_on_pictures(struct gallery *gallery)
{
    notebook_conclude(CONTAINER_OF(gallery, struct notebook, gallery));
}

static bool notebook_has_pictures(const struct notebook *notebook, const struct cell *cell)
{
    return notebook->gallery.helper && notebook->changes.files && cell->end == RUN_ENDED &&
           cell->status == 0 && !notebook->is_over;
}

static void notebook_show(struct notebook *notebook)
{
    struct cell *cell = notebook_current(notebook);

    notebook->changes = directory_look_changes(&notebook->look);
    if (notebook_has_pictures(notebook, cell) &&
        gallery_start(&notebook->gallery, working_directory_fd(notebook->directory),
                      notebook->changes.files) == OUTCOME_PENDING)
        notebook_set_state(notebook, NOTEBOOK_SHOWING);
    else
        notebook_conclude(notebook);
}

static void notebook_list(struct notebook *notebook)
{
    notebook_current(notebook)->ended_at = clock_seconds();
    notebook_set_state(notebook, NOTEBOOK_LISTING);
    if (directory_look_start(&notebook->look, notebook->directory) == OUTCOME_READY)
        notebook_show(notebook);
}

static bool notebook_is_working(const struct notebook *notebook)
{
    return notebook->state == NOTEBOOK_WORKING || notebook->state == NOTEBOOK_INTERRUPTED;
}

void notebook_kill(struct notebook *notebook, enum run_end end)
{
    if (notebook_is_working(notebook)) {
        notebook_current(notebook)->end = end;
        notebook_set_state(notebook, NOTEBOOK_STOPPING);
    }
    if (notebook->execution)
        notebook->execution->kill(notebook->execution);
}

/* It may also be about to end, and then says how. */
static void notebook_on_nonsense(struct notebook *notebook)
{
    notebook_link_close(notebook);
    notebook->error = (struct error)ERROR_INIT;
    error_set(
        &notebook->error, ERROR_UNAVAILABLE,
        "the session was ended: its code has closed or used a descriptor that is not its own");
    notebook_start_deadline(notebook, NOTEBOOK_GRACE_SECONDS);
}

static void notebook_on_answer(struct notebook *notebook, int status)
{
    if (!notebook_is_working(notebook)) {
        notebook_on_nonsense(notebook);
        return;
    }
    notebook->execution->drain(notebook->execution);
    cell_note_usage(notebook_current(notebook));
    notebook_current(notebook)->status = status;
    notebook_list(notebook);
}

static void notebook_interrupt(struct notebook *notebook)
{
    notebook_current(notebook)->end = RUN_TIMED_OUT;
    notebook_set_state(notebook, NOTEBOOK_INTERRUPTED);
    notebook->execution->interrupt(notebook->execution);
}

static void notebook_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct notebook *notebook = CONTAINER_OF(timer, struct notebook, deadline);

    (void)loop;
    (void)events;
    if (notebook->channel.fd < 0)
        notebook_kill(notebook, RUN_FAILED);
    else if (notebook->state == NOTEBOOK_WORKING)
        notebook_interrupt(notebook);
    else
        notebook_kill(notebook, RUN_TIMED_OUT);
}

static void notebook_on_grown(struct directory_watch *watch)
{
    notebook_kill(CONTAINER_OF(watch, struct notebook, growth), RUN_DISK_LIMIT);
}

static void notebook_on_measured(struct directory_watch *watch)
{
    (void)watch; /* what is changed meanwhile counts as new */
}

static void notebook_on_output(struct execution_listener *listener, enum process_stream stream,
                               const char *data, size_t length)
{
    struct notebook *notebook = CONTAINER_OF(listener, struct notebook, listener);

    notebook->newest = stream;
    capture_append(&notebook->streams[stream], data, length);
}

/* Why a cell was not executed that came when its Python had ended. */
static void notebook_explain_end(struct notebook *notebook)
{
    const struct execution_end *end = &notebook->execution_end;
    static const char rest[] = "; its variables are gone, and this code was not executed";

    notebook->error = (struct error)ERROR_INIT;
    if (end->failure[0])
        error_set(&notebook->error, ERROR_UNAVAILABLE, "%s", end->failure);
    else if (end->out_of_memory)
        error_set(&notebook->error, ERROR_UNAVAILABLE,
                  "the session has used more memory than its limit and has ended%s", rest);
    else if (end->out_of_disk || notebook->growth.is_exceeded)
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

/* Its Python has ended while CELL was at work. */
static void notebook_judge(struct notebook *notebook, struct cell *cell)
{
    const struct execution_end *end = &notebook->execution_end;

    if (end->failure[0])
        cell->end = RUN_FAILED;
    else if (cell->end == RUN_ENDED && end->out_of_disk)
        cell->end = RUN_DISK_LIMIT;
    if (cell->end == RUN_FAILED)
        error_copy(&cell->error, &notebook->error);
}

static void notebook_on_ended(struct execution_listener *listener, const struct execution_end *end)
{
    struct notebook *notebook = CONTAINER_OF(listener, struct notebook, listener);
    bool was_cut = notebook->error.code != ERROR_NONE && end->returncode == -SIGKILL &&
                   !end->failure[0] && !ev_is_active(&notebook->deadline);

    notebook->execution = NULL;
    notebook->is_over = true;
    ev_timer_stop(notebook->loop, &notebook->deadline);
    notebook_link_close(notebook);
    notebook_note_end(notebook, end);
    if (!was_cut)
        notebook_explain_end(notebook);
    if (notebook->is_closed)
        notebook_schedule(notebook);
    else if (notebook->state == NOTEBOOK_STARTING)
        notebook_give_up(notebook);
    else if (notebook_is_working(notebook) || notebook->state == NOTEBOOK_STOPPING) {
        notebook_judge(notebook, notebook_current(notebook));
        notebook_list(notebook);
    }
}

/* The way to its code */

static void notebook_send(struct notebook *notebook)
{
    struct cell *cell = notebook_current(notebook);

    if (notebook->is_over) {
        notebook_give_up(notebook);
        return;
    }
    if (!cell->request.done) {
        notebook_conclude(notebook);
        return;
    }
    directory_look_note(&notebook->look);
    cell_note_usage_before(cell);
    cell->sent_at = clock_seconds();
    notebook_set_state(notebook, NOTEBOOK_WORKING);
    if (notebook->channel.fd < 0)
        notebook_start_deadline(notebook, NOTEBOOK_GRACE_SECONDS); /* it is ending */
    else
        notebook_link_send(notebook, cell);
}

static void notebook_on_looked(struct directory_look *look)
{
    struct notebook *notebook = CONTAINER_OF(look, struct notebook, look);

    if (notebook->state == NOTEBOOK_LOOKING)
        notebook_send(notebook);
    else
        notebook_show(notebook);
}

/* Only this cell fails if its files cannot be put there. */
static void notebook_look(struct notebook *notebook)
{
    struct cell *cell;

    notebook_set_state(notebook, NOTEBOOK_LOOKING);
    cell = notebook_current(notebook);
    cell->prepared_at = clock_seconds();
    if (run_files_put(notebook->environment, notebook->directory, cell->request.files,
                      &cell->error) < 0) {
        cell->end = RUN_FAILED;
        notebook_conclude(notebook);
    } else if (directory_look_start(&notebook->look, notebook->directory) == OUTCOME_READY) {
        notebook_send(notebook);
    }
}

/* What Pythons import ahead of the next one that starts as this does. */
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
    const struct execution_request request = {
        .directory = working_directory_path(notebook->directory),
        .directory_fd = working_directory_fd(notebook->directory),
        .script = notebook->claim.script,
        .program = notebook_driver,
        .recurrence = cell->request.recurrence,
        .imports = imports,
        .input = theirs,
        .kernel = environment_kernel(notebook->environment),
        .variables = (const char *const *)notebook->variables,
        .isolation = notebook->isolation,
        .owner = notebook->owner,
    };

    notebook->execution =
        environment_start(notebook->environment, &request, &notebook->listener, err);
    cell->request.recurrence = NULL;
    return notebook->execution ? 0 : -1;
}

/* In a sandbox the program may be laid over script.py, where people see the code of this cell. */
static int notebook_claim(struct notebook *notebook, struct error *err)
{
    const struct cell *cell = notebook_current(notebook);

    if (directory_claim_open(&notebook->claim, notebook->directory, SCRIPT_LAID_OVER, err) < 0)
        return -1;
    if (notebook->isolation != ISOLATION_SANDBOX || !cell->request.recurrence)
        return 0;
    return directory_claim_write(&notebook->claim, cell->code, cell->request.code_length, err);
}

static int notebook_start(struct notebook *notebook, struct error *err)
{
    AUTO_CLOSE int theirs = -1;

    if (!environment_can_overlap(notebook->environment))
        return error_set(err, ERROR_UNAVAILABLE, "environment \"%s\" has no sessions: %s",
                         notebook->environment->name,
                         notebook->isolation == ISOLATION_DOCKER
                             ? "its calls share a container (keep_container_running)"
                             : "they need a PID namespace, which this machine does not give");
    if (kernel_check_build(notebook->environment, err) < 0)
        return error_prefix(err, "environment \"%s\" has no sessions", notebook->environment->name);
    if (working_directory_is_busy(notebook->directory, true))
        return error_set(err, ERROR_BUSY, "another run has the working directory to itself");
    if (notebook_claim(notebook, err) < 0 || notebook_link_open(notebook, &theirs, err) < 0 ||
        notebook_start_python(notebook, theirs, err) < 0)
        return -1;
    (void)directory_watch_begin(&notebook->growth, &notebook->claim);
    return 0;
}

/* It is not the time of a cell that a container takes to start. */
static void notebook_use_python(struct notebook *notebook)
{
    if (notebook->execution->is_starting)
        notebook_set_state(notebook, NOTEBOOK_STARTING);
    else
        notebook_look(notebook);
}

static void notebook_on_began(struct execution_listener *listener)
{
    struct notebook *notebook = CONTAINER_OF(listener, struct notebook, listener);

    if (notebook->state == NOTEBOOK_STARTING)
        notebook_look(notebook);
}

static void notebook_go_on(struct notebook *notebook)
{
    if (notebook_start(notebook, &notebook->error) == 0)
        notebook_use_python(notebook);
    else
        notebook_give_up(notebook);
}

static void notebook_on_prepared(struct environment_waiter *waiter, const struct error *err)
{
    struct notebook *notebook = CONTAINER_OF(waiter, struct notebook, waiter);

    cell_tell_step(waiter, NULL);
    if (err) {
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
    if (!notebook->execution && !notebook->is_over) {
        notebook_prepare(notebook);
        return;
    }
    if (!notebook->is_over) {
        notebook_use_python(notebook);
        return;
    }
    notebook_set_state(notebook, NOTEBOOK_LOOKING);
    notebook_give_up(notebook);
}

/* From outside */

static void notebook_on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct notebook *notebook = CONTAINER_OF(timer, struct notebook, next);

    (void)loop;
    (void)events;
    if (notebook->is_closed && !notebook->execution)
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
    } else if (notebook->state == NOTEBOOK_PREPARING || notebook->state == NOTEBOOK_STARTING) {
        environment_forget_waiter(&notebook->waiter);
        notebook_conclude(notebook);
    } else if (notebook->state == NOTEBOOK_WORKING) {
        notebook_interrupt(notebook);
    }
}

static void notebook_init_watchers(struct notebook *notebook)
{
    notebook->listener.began = notebook_on_began;
    notebook->listener.output = notebook_on_output;
    notebook->listener.ended = notebook_on_ended;
    notebook->waiter.prepared = notebook_on_prepared;
    notebook->waiter.progress = cell_tell_step;
    notebook->channel.answered = notebook_on_answer;
    notebook->channel.broken = notebook_on_nonsense;
    list_init(&notebook->waiter.link);
    directory_look_init(&notebook->look, notebook->loop, notebook_on_looked);
    notebook->growth.loop = notebook->loop;
    notebook->growth.limit = notebook->environment->settings.disk;
    notebook->growth.founded = notebook_on_measured;
    notebook->growth.exceeded = notebook_on_grown;
    notebook->growth.finished = notebook_on_measured;
    notebook->gallery.loop = notebook->loop;
    notebook->gallery.host = notebook->environment->host;
    notebook->gallery.done = notebook_on_pictures;
    ev_timer_init(&notebook->deadline, notebook_on_deadline, 0., 0.);
    ev_timer_init(&notebook->next, notebook_on_next, 0., 0.);
    ev_timer_init(&notebook->idle, notebook_on_idle, notebook->idle_seconds, 0.);
}

struct notebook *notebook_new(struct ev_loop *loop, const struct notebook_request *request,
                              double idle_seconds)
{
    struct notebook *notebook = notebook_make(loop, request, idle_seconds);

    notebook_init_watchers(notebook);
    ev_timer_start(loop, &notebook->idle);
    return notebook;
}
