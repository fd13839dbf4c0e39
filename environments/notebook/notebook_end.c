/* The end of a cell, and the facts about the end of its Python. */
#include "base/clock.h"
#include "base/json.h"
#include "environments/notebook/notebook_private.h"

#include <math.h>
#include <signal.h>

void cell_note_usage_before(struct cell *cell)
{
    struct execution *execution = cell->notebook->turn.execution;

    cell->cpu_before = execution->measure(execution).cpu_seconds;
}

void cell_note_usage(struct cell *cell)
{
    struct execution *execution = cell->notebook->turn.execution;

    cell->usage = execution->measure(execution);
    cell->usage.cpu_seconds = fmax(cell->usage.cpu_seconds - cell->cpu_before, 0);
}

/* The end of CELL as of a run. While its Python lives, the receipt is the receipt that a run would
 * get. */
static struct process_end cell_end(const struct cell *cell)
{
    const struct notebook *notebook = cell->notebook;
    const struct environment *environment = notebook->environment;
    struct process_end end = notebook->turn.execution_end;

    if (!notebook->is_over || cell->end == RUN_FAILED)
        end = (struct process_end){.receipt = environment->ops->expected_receipt(environment)};
    if (!notebook->is_over)
        end.returncode = cell->status;
    if (cell->end == RUN_TIMED_OUT && !notebook->is_over)
        end.returncode = -SIGINT;
    if (cell->sent_at > 0) {
        end.start_seconds = 0;
        end.run_seconds = cell->ended_at - cell->sent_at;
        end.cpu_seconds = notebook->is_over ? fmax(end.cpu_seconds - cell->cpu_before, 0)
                                            : cell->usage.cpu_seconds;
        if (!notebook->is_over)
            end.peak_memory = cell->usage.peak_memory;
        end.ahead_seconds = notebook->count == 1 ? cell->usage.ahead_seconds : 0;
    }
    return end;
}

static struct run_report cell_report(const struct cell *cell)
{
    const struct notebook *notebook = cell->notebook;
    const struct environment *environment = notebook->environment;
    double began = cell->began_at > 0 ? cell->began_at : clock_seconds();

    return (struct run_report){
        .end = cell->end,
        .session = notebook->is_over || notebook->is_closed ? RUN_SESSION_GONE : RUN_SESSION_KEPT,
        .error = cell->error,
        .share = directory_watch_share(&notebook->turn.growth),
        .execution = cell_end(cell),
        .streams = notebook->turn.streams,
        .files = notebook->turn.changes.files,
        .has_removed_files = notebook->turn.changes.has_removed,
        .files_are_complete = notebook->turn.changes.are_complete,
        .pictures = notebook->turn.gallery.pictures,
        .installed = cell->installed,
        .tools = notebook->turn.tool_account,
        .had_longest = notebook->turn.is_latest,
        .directory = notebook->directory,
        .working_directory = working_directory_handle(notebook->directory),
        .python_version = environment->ops->python_version(environment),
        .wait_seconds = began - cell->submitted_at,
        .prepare_seconds = cell->prepared_at > 0 ? cell->prepared_at - began : 0,
        .total_seconds = clock_seconds() - cell->submitted_at,
    };
}

void cell_finish(struct cell *cell)
{
    struct run_report report;

    if (cell->ended_at <= 0)
        cell->ended_at = clock_seconds();
    report = cell_report(cell);
    if (cell->request.done)
        cell->request.done(cell->request.data, &report);
    cell_free(cell);
}
