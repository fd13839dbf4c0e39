/* The start of a run's execution: its directory with the script in it, and the request. */
#include "environments/run_private.h"

#include "environments/run_files.h"

int run_open_claim(struct run *run)
{
    enum script_delivery delivery = environment_delivery(run->request.environment);

    if (directory_claim_open(&run->claim, run->directory, delivery, &run->error) < 0 ||
        directory_claim_write(&run->claim, run->code, run->request.code_length, &run->error) < 0)
        return -1;
    return run_files_put(run->request.environment, run->directory, run->files, &run->error);
}

int run_start_execution(struct run *run)
{
    const struct execution_request request = {
        .directory = working_directory_path(run->directory),
        .directory_fd = working_directory_fd(run->directory),
        .script = run->claim.script,
        .code = run->claim.delivery == SCRIPT_IN_PLACE ? NULL : run->code,
        .code_length = run->request.code_length,
        .code_file = run->claim.file,
        .variables = (const char *const *)run->variables,
        .arguments = (const char *const *)run->arguments,
        .isolation = run->request.isolation,
        .recurrence = run->request.recurrence,
        .imports = run->request.imports,
        .owner = run->owner,
        .timeout = run->request.timeout,
    };

    run->execution =
        environment_start(run->request.environment, &request, &run->listener, &run->error);
    return run->execution ? 0 : -1;
}

bool run_is_well_delivered(const struct run *run)
{
    return run->claim.delivery == environment_delivery(run->request.environment);
}
