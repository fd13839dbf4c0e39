/* How a run comes from its place to its script. */
#include "base/clock.h"
#include "base/log.h"
#include "environments/run_private.h"
#include "environments/workplace/provided_files.h"

/* Files of the call count as there before the run. Who runs scripts gets access to them. */
static int put_files(struct run *run)
{
    if (!run->files)
        return 0;
    if (environment_admit(run->request.environment, working_directory_path(run->directory),
                          &run->error) < 0)
        return -1;
    return provided_files_put(run->files, run->directory, &run->error);
}

static int open_claim(struct run *run)
{
    enum script_delivery delivery = environment_delivery(run->request.environment);

    if (directory_claim_open(&run->claim, run->directory, delivery, &run->error) < 0 ||
        directory_claim_write(&run->claim, run->code, run->request.code_length, &run->error) < 0)
        return -1;
    return put_files(run);
}

static int start_execution(struct run *run)
{
    const struct execution_request request = {
        .directory = working_directory_path(run->directory),
        .script = run->claim.script,
        .code = run->claim.delivery == SCRIPT_IN_PLACE ? NULL : run->code,
        .code_length = run->request.code_length,
        .code_file = run->claim.file,
        .variables = (const char *const *)run->variables,
        .arguments = (const char *const *)run->arguments,
        .isolation = run->request.isolation,
        .owner = run->owner,
        .timeout = run->request.timeout,
    };

    run->execution =
        environment_start(run->request.environment, &request, &run->listener, &run->error);
    return run->execution ? 0 : -1;
}

static void run_launch(struct run *run)
{
    if (start_execution(run) < 0) {
        run_fail(run);
        return;
    }
    run_set_state(run, RUN_RUNNING);
    log_debug("run %lu started environment=%s timeout=%g", run->number,
              run->request.environment->name, run->request.timeout);
}

void run_begin_again(struct run *run)
{
    directory_watch_end(&run->growth);
    directory_claim_close(&run->claim);
    run_begin(run);
}

bool run_is_well_delivered(const struct run *run)
{
    return run->claim.delivery == environment_delivery(run->request.environment);
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

void run_on_founded(struct directory_watch *watch)
{
    run_go_on(CONTAINER_OF(watch, struct run, growth));
}

/* The files are known; what they take is measured on its own. */
static void run_measure(struct run *run)
{
    directory_look_note(&run->look);
    if (directory_watch_begin(&run->growth, run->directory) == OUTCOME_READY)
        run_go_on(run);
}

void run_on_looked(struct directory_look *look)
{
    struct run *run = CONTAINER_OF(look, struct run, look);

    if (run->state == RUN_LOOKING)
        run_measure(run);
    else
        run_show(run);
}

/* The environment is prepared. Another run may have taken the directory meanwhile, and only now
 * is it known whether scripts can be laid over each other. */
static void run_execute(struct run *run)
{
    run->prepared_at = clock_seconds();
    if (working_directory_is_busy(run->directory,
                                  environment_can_overlap(run->request.environment))) {
        run_set_state(run, RUN_WAITING);
        executor_requeue(run->executor, run);
        return;
    }
    if (open_claim(run) < 0) {
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

void run_on_progress(struct environment_waiter *waiter, const struct preparation_step *step)
{
    run_tell_step(CONTAINER_OF(waiter, struct run, waiter), step);
}

void run_on_prepared(struct environment_waiter *waiter, const struct error *err)
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
