/* How a run has ended: for its report, and for the operator's metrics. */
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "environments/run_private.h"

static const char *run_outcome_name(const struct run *run, const struct process_end *end)
{
    static const char *const names[] = {
        [RUN_TIMED_OUT] = "timeout",
        [RUN_DISK_LIMIT] = "disk_limit",
        [RUN_FAILED] = "failed",
    };

    if (run_is_cancelled(run))
        return "cancelled";
    if (run->turn.end != RUN_ENDED)
        return names[run->turn.end];
    if (end->returncode == 0)
        return "success";
    return end->out_of_memory ? "memory_limit" : "error";
}

void run_count(const struct run *run, const struct process_end *end)
{
    const char *name = run->request.environment->name;

    metrics_count(METRIC_RUNS, name, end ? run_outcome_name(run, end) : "cancelled");
    if (run->placed_at > 0)
        metrics_observe(METRIC_QUEUE_SECONDS, name, run->placed_at - run->submitted_at);
    if (!end || run->turn.state < TURN_WORKING)
        return;
    metrics_count(METRIC_STARTS, name, end->ahead_seconds > 0 ? "warm" : "cold");
    metrics_observe(METRIC_RUN_SECONDS, name, end->run_seconds);
}

void run_judge(struct run *run)
{
    const struct process_end *end = &run->turn.execution_end;

    if (end->failure[0]) {
        run->turn.end = RUN_FAILED;
        error_set(&run->error, ERROR_UNAVAILABLE, "%s", end->failure);
    } else if (run->turn.end == RUN_ENDED && (run->turn.growth.is_exceeded || end->out_of_disk)) {
        run->turn.end = RUN_DISK_LIMIT;
    }
    if (end->survivors)
        log_error("containment failed: processes of run %lu are still alive", run->number);
}

struct run_report run_report_of(const struct run *run, const struct process_end *end)
{
    double now = clock_seconds();

    return (struct run_report){
        .end = run->turn.end,
        .error = run->error,
        .share = directory_watch_share(&run->turn.growth),
        .execution = *end,
        .streams = run->turn.streams,
        .files = run->turn.changes.files,
        .has_removed_files = run->turn.changes.has_removed,
        .files_are_complete = run->turn.changes.are_complete,
        .pictures = run->turn.gallery.pictures,
        .tools = run->turn.tool_account,
        .had_longest = run->turn.is_latest,
        .directory = run->directory,
        .script = run->claim.script,
        .working_directory = working_directory_handle(run->directory),
        .python_version = run->request.environment->ops->python_version(run->request.environment),
        .wait_seconds = run->placed_at - run->submitted_at,
        .prepare_seconds = (run->prepared_at > 0 ? run->prepared_at : now) - run->placed_at,
        .total_seconds = now - run->submitted_at,
    };
}
