#include "environments/local.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/egress/egress.h"
#include "environments/packages/import_record.h"
#include "environments/process/process.h"
#include "environments/run_variables.h"
#include "environments/sandbox_policy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct local_execution {
    struct execution execution;
    struct process process;
    struct egress *egress; /* owned; NULL: the run has none */
    json_t *given_up;      /* owned: why it has no sandbox, though one was wanted; or NULL */
    unsigned unserved;     /* the layers that the given-up sandbox was to have */
    json_t *devices;       /* owned: the devices that its sandbox has; or NULL: none are opened */
};

static void local_on_output(struct process *process, enum process_stream stream, const char *data,
                            size_t length)
{
    struct execution_listener *listener =
        CONTAINER_OF(process, struct local_execution, process)->execution.listener;

    listener->output(listener, stream, data, length);
}

/* Without its sandbox, a run reports why. The texts stay LOCAL's. */
static struct process_receipt local_receipt(const struct local_execution *local,
                                            const struct process_receipt *had)
{
    struct process_receipt receipt = *had;
    const json_t *what;
    size_t i;

    receipt.devices = local->devices;
    if (!local->given_up)
        return receipt;
    receipt.asked |= local->unserved;
    json_array_foreach (had->missing, i, what)
        process_receipt_add_missing(local->given_up, json_string_value(what));
    receipt.missing = local->given_up;
    return receipt;
}

static void local_on_ended(struct process *process, const struct process_end *end)
{
    struct local_execution *local = CONTAINER_OF(process, struct local_execution, process);
    struct execution_listener *listener = local->execution.listener;
    struct process_end result = *end;
    json_t *given_up = local->given_up;
    json_t *devices = local->devices;

    result.receipt = local_receipt(local, &end->receipt);
    egress_stop(local->egress);
    free(local);
    listener->ended(listener, &result);
    json_decref(given_up); /* the receipt of the result has lent them */
    json_decref(devices);
}

static void interrupt_local(struct execution *execution)
{
    process_interrupt(&CONTAINER_OF(execution, struct local_execution, execution)->process);
}

static void drain_local(struct execution *execution)
{
    process_drain(&CONTAINER_OF(execution, struct local_execution, execution)->process);
}

static void hold_local(struct execution *execution, bool is_held)
{
    process_hold(&CONTAINER_OF(execution, struct local_execution, execution)->process, is_held);
}

static struct process_usage measure_local(struct execution *execution)
{
    return process_measure(&CONTAINER_OF(execution, struct local_execution, execution)->process);
}

static void kill_local(struct execution *execution)
{
    process_kill(&CONTAINER_OF(execution, struct local_execution, execution)->process);
}

/* Where no cgroup limits the memory, the limit is of address space. Which it is shows only when the
 * process has started. */
static unsigned local_threads(const struct environment *environment)
{
    const struct process_limits *limits = &environment->settings.limits;

    return run_variables_thread_count(process_host_cpus(environment->host), limits->processes,
                                      limits->memory);
}

/* The variables of a sandbox. git does not work when it may not read the machine's settings; they
 * are not shown, since there can be passwords in them, but without an own root git sees that they
 * exist. */
static char **local_sandbox_variables(char *const *hosts)
{
    const struct egress_way way = {.hosts = hosts};
    char **variables = hosts ? egress_variables(&way) : memory_new(1, sizeof *variables);
    size_t count = 0;

    while (variables[count])
        count++;
    variables = memory_resize(variables, (count + 2) * sizeof *variables);
    variables[count] = memory_copy_string("GIT_CONFIG_NOSYSTEM=1");
    variables[count + 1] = NULL;
    return variables;
}

/* The same command may come again, and its Python be started before that. It must not load files
 * that a script has made, which would then be at work while no call is. So the operator has no
 * variable that leads Python to such files, and in a sandbox the Python itself cannot be changed.
 * The proxy of a run is only for this run. */
static bool local_is_recurrent(const struct environment *environment,
                               const struct execution_request *request,
                               const struct process_sandbox *sandbox)
{
    return request->recurrence && request->script && !request->kernel && sandbox &&
           sandbox->outlet == 0 && environment->settings.start != START_COLD &&
           !run_variables_lead_python((const char *const *)environment->settings.variables) &&
           !run_variables_lead_python(request->variables);
}

static void local_add_file(struct digest *digest, const struct stat *status)
{
    digest_add(digest, &status->st_dev, sizeof status->st_dev);
    digest_add(digest, &status->st_ino, sizeof status->st_ino);
}

static void local_add_paths(struct digest *digest, const char *const *paths)
{
    for (; *paths; paths++) {
        struct stat status = {0}; /* stays 0 for a path that is not there */

        (void)lstat(*paths, &status);
        local_add_file(digest, &status);
    }
}

/* A sandbox shows what its paths have led to when it was made. And a Python is one caller's alone:
 * its copies share the hash seed, addresses and networks. */
static void local_mark(const struct execution_request *request,
                       const struct process_sandbox *sandbox, char ret_mark[DIGEST_TEXT_BYTES])
{
    struct digest digest;
    struct stat status = {0};

    digest_init(&digest);
    digest_add_string(&digest, request->owner);
    (void)fstat(request->directory_fd, &status);
    local_add_file(&digest, &status);
    local_add_paths(&digest, sandbox->read);
    local_add_paths(&digest, sandbox->write);
    digest_finish(&digest, ret_mark);
}

/* The text to lay over the script of REQUEST; or NULL. If a program can be started ahead, it is
 * that text. */
static const char *local_code(const struct execution_request *request, bool is_recurrent)
{
    return request->program && is_recurrent ? request->program : request->code;
}

/* For memory_free_strings. */
static char **local_command(const char *interpreter, const struct execution_request *request,
                            bool is_recurrent)
{
    if (request->program && !is_recurrent)
        return execution_program_command(interpreter, request);
    return execution_command(interpreter, request->script, request);
}

static int local_start_process(struct local_execution *local, const struct environment *environment,
                               const char *interpreter, const struct execution_request *request,
                               const struct process_sandbox *sandbox, struct error *err)
{
    char **held = sandbox ? local_sandbox_variables(environment->settings.sandbox.hosts) : NULL;
    char **variables = run_variables_new(interpreter, request->directory,
                                         local_threads(environment), (const char *const *)held,
                                         environment->settings.variables, request->variables);
    const bool is_recurrent = local_is_recurrent(environment, request, sandbox);
    const char *code = local_code(request, is_recurrent);
    char **arguments = local_command(interpreter, request, is_recurrent);
    char mark[DIGEST_TEXT_BYTES];
    const struct process_command command = {
        .arguments = (const char *const *)arguments,
        .environment = (const char *const *)variables,
        .directory = request->directory,
        .code = code,
        .code_length = code == request->program && code ? strlen(code) : request->code_length,
        .script = code ? request->script : NULL,
        .input = request->input,
        .tools = request->kernel ? 0 : request->tools,
        .has_starter = !request->kernel,
        .recurrence = is_recurrent ? request->recurrence : NULL,
        .is_alone = environment->settings.start == START_FRESH || !code,
        .preloads =
            import_record_note(environment->imports, request->owner, interpreter, request->imports),
        .mark = mark,
        .sandbox = sandbox,
        .limits = environment->settings.limits,
    };
    int ret;

    if (command.recurrence)
        local_mark(request, sandbox, mark);
    ret = process_start(environment->host, &local->process, &command, err);
    memory_free_strings(held);
    memory_free_strings(variables);
    memory_free_strings(arguments);
    return ret;
}

/* The proxy of a run that reaches the hosts that the operator has listed. */
static int local_open_way(struct local_execution *local, const struct environment *environment,
                          struct process_sandbox *sandbox, struct error *err)
{
    const struct egress_way way = {.hosts = environment->settings.sandbox.hosts};

    if (!way.hosts)
        return 0;
    local->egress = egress_start(environment->host, environment->proxy, &way, err);
    if (!local->egress)
        return -1;
    sandbox->outlet = egress_outlet(local->egress);
    return 0;
}

/* A promised sandbox is built as far as the machine has it, and never left out. */
static bool local_is_held(const struct environment *environment,
                          const struct execution_request *request)
{
    const struct sandbox_settings *settings = &environment->settings.sandbox;

    return settings->is_wanted &&
           (!settings->is_optional || request->isolation == ISOLATION_SANDBOX);
}

static int local_start_held(struct local_execution *local, const struct environment *environment,
                            const char *interpreter, const struct execution_request *request,
                            struct error *err)
{
    struct sandbox_policy policy;
    int started;

    if (sandbox_policy_init(&policy, environment, request->directory, request->annex, err) < 0)
        return -1;
    if (environment->settings.sandbox.gpu)
        local->devices = json_strings((const char *const *)policy.gpu.devices);
    started = local_open_way(local, environment, &policy.sandbox, err);
    if (started == 0)
        started =
            local_start_process(local, environment, interpreter, request, &policy.sandbox, err);
    sandbox_policy_deinit(&policy);
    return started;
}

/* A layer that was missing when the run was submitted may be there meanwhile. */
static void local_note_given_up(struct local_execution *local,
                                const struct environment *environment)
{
    const struct process_sandbox sandbox = sandbox_policy_outline(environment);
    json_t *given_up = environment_given_up(environment);

    local->given_up = given_up ? given_up : json_array();
    local->unserved = process_host_receipt(environment->host, &sandbox).asked;
}

static int local_start_unheld(struct local_execution *local, const struct environment *environment,
                              const char *interpreter, const struct execution_request *request,
                              struct error *err)
{
    if (local_start_process(local, environment, interpreter, request, NULL, err) < 0)
        return -1;
    if (environment->settings.sandbox.is_wanted)
        local_note_given_up(local, environment);
    return 0;
}

static int local_begin(struct local_execution *local, const struct environment *environment,
                       const char *interpreter, const struct execution_request *request,
                       struct error *err)
{
    if (local_is_held(environment, request))
        return local_start_held(local, environment, interpreter, request, err);
    return local_start_unheld(local, environment, interpreter, request, err);
}

static struct local_execution *local_new(struct execution_listener *listener);

/* The proxy of the original serves the copy, too: the copy ends with the original. */
static struct execution *copy_local(struct execution *execution,
                                    struct execution_listener *listener,
                                    struct process_copy_ends *ret, struct error *err)
{
    struct local_execution *origin = CONTAINER_OF(execution, struct local_execution, execution);
    struct local_execution *local = local_new(listener);

    if (process_start_copy(&origin->process, &local->process, ret, err) < 0) {
        free(local);
        return NULL;
    }
    local->given_up = json_deep_copy(origin->given_up);
    local->unserved = origin->unserved;
    local->devices = json_deep_copy(origin->devices);
    return &local->execution;
}

static struct local_execution *local_new(struct execution_listener *listener)
{
    struct local_execution *local = NEW(struct local_execution);

    local->execution = (struct execution){
        .listener = listener,
        .interrupt = interrupt_local,
        .drain = drain_local,
        .hold = hold_local,
        .measure = measure_local,
        .copy = copy_local,
        .kill = kill_local,
    };
    local->process.output = local_on_output;
    local->process.ended = local_on_ended;
    return local;
}

struct execution *local_start(struct environment *environment, const char *interpreter,
                              const struct execution_request *request,
                              struct execution_listener *listener, struct error *err)
{
    struct local_execution *local = local_new(listener);

    if (local_begin(local, environment, interpreter, request, err) == 0)
        return &local->execution;
    egress_stop(local->egress);
    json_decref(local->devices);
    free(local);
    return NULL;
}

/* There is no sandbox because of the layers that it would lack. */
static struct process_receipt local_unheld_receipt(const struct environment *environment)
{
    const struct process_sandbox sandbox = sandbox_policy_outline(environment);
    struct process_receipt unheld = process_host_receipt(environment->host, NULL);
    struct process_receipt held;

    if (!environment->settings.sandbox.is_wanted)
        return unheld;
    held = process_host_receipt(environment->host, &sandbox);
    unheld.asked = held.asked;
    unheld.missing = held.missing;
    return unheld;
}

struct process_receipt local_expected_receipt(const struct environment *environment)
{
    const struct process_sandbox sandbox = sandbox_policy_outline(environment);

    if (environment_isolation(environment) == ISOLATION_SANDBOX)
        return process_host_receipt(environment->host, &sandbox);
    return local_unheld_receipt(environment);
}

/* As far as is known: a run that this machine refuses is given its code in another way. */
enum script_delivery local_delivery(const struct environment *environment)
{
    return local_expected_receipt(environment).layers & LAYER_PID_NAMESPACE ? SCRIPT_LAID_OVER
                                                                            : SCRIPT_IN_PLACE;
}

bool local_can_overlap(const struct environment *environment)
{
    return local_delivery(environment) == SCRIPT_LAID_OVER;
}
