#include "environments/local.h"

#include "base/memory.h"
#include "environments/process/process.h"
#include "environments/run_variables.h"

#include <stdlib.h>

struct local_execution {
    struct execution execution;
    struct process process;
};

static void local_on_output(struct process *process, enum process_stream stream, const char *data,
                            size_t length)
{
    struct execution_listener *listener =
        CONTAINER_OF(process, struct local_execution, process)->execution.listener;

    listener->output(listener, stream, data, length);
}

static void local_on_ended(struct process *process, const struct process_end *end)
{
    struct local_execution *local = CONTAINER_OF(process, struct local_execution, process);
    struct execution_listener *listener = local->execution.listener;

    free(local);
    listener->ended(listener, end);
}

static void kill_local(struct execution *execution)
{
    process_kill(&CONTAINER_OF(execution, struct local_execution, execution)->process);
}

static int local_start_process(struct local_execution *local, const struct environment *environment,
                               const char *interpreter, const struct execution_request *request,
                               struct error *err)
{
    char **variables = run_variables_new(interpreter, request->directory,
                                         environment->settings.variables, request->variables);
    const char *const arguments[] = {interpreter, request->script, NULL};
    const struct process_command command = {
        .arguments = arguments,
        .environment = (const char *const *)variables,
        .directory = request->directory,
        .overlay_source = request->overlay,
        .overlay_target = request->overlay ? request->script : NULL,
        .limits = environment->settings.limits,
    };
    int ret = process_start(environment->host, &local->process, &command, err);

    run_variables_free(variables);
    return ret;
}

struct execution *local_start(struct environment *environment, const char *interpreter,
                              const struct execution_request *request,
                              struct execution_listener *listener, struct error *err)
{
    struct local_execution *local = NEW(struct local_execution);

    local->execution = (struct execution){.listener = listener, .kill = kill_local};
    local->process.output = local_on_output;
    local->process.ended = local_on_ended;
    if (local_start_process(local, environment, interpreter, request, err) == 0)
        return &local->execution;
    free(local);
    return NULL;
}

/* A file is laid over another in a mount namespace, which comes with the PID namespace. */
bool local_can_overlay(const struct environment *environment)
{
    return process_host_containment(environment->host) == CONTAINMENT_PID_NAMESPACE;
}

json_t *local_containment(const struct environment *environment)
{
    const struct process_host *host = environment->host;

    return json_pack("{s:s, s:s, s:O}",                                                //
                     "process_tree", containment_name(process_host_containment(host)), //
                     "limits", process_host_limits_by(host),                           //
                     "missing", process_host_missing(host));
}
