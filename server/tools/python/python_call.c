#include "server/tools/python/python_call.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/catalog.h"
#include "environments/executor.h"
#include "environments/notebook/notebooks.h"
#include "environments/script_tools.h"
#include "environments/workplace/provided_files.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/code/import_names.h"
#include "server/tools/code/pip_line.h"
#include "server/tools/code/script_block.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/invocation.h"
#include "server/tools/python/approval.h"
#include "server/tools/python/file_resource.h"
#include "server/tools/python/foreseen_tools.h"
#include "server/tools/python/python_caller.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/python_output.h"
#include "server/tools/python/python_progress.h"
#include "server/tools/python/python_sender.h"
#include "server/tools/python/python_session.h"
#include "server/tools/python/run_account.h"
#include "server/tools/trace.h"

#include <stdlib.h>

enum python_call_state {
    PYTHON_CALL_CHOOSING, /* the environment and the time limit */
    PYTHON_CALL_ASKING,   /* for approval */
    PYTHON_CALL_RUNNING,  /* the run is submitted */
    PYTHON_CALL_OVER,
};

static const struct state python_call_states[] = {
    [PYTHON_CALL_CHOOSING] = {"choosing", 1 << PYTHON_CALL_ASKING | 1 << PYTHON_CALL_OVER},
    [PYTHON_CALL_ASKING] = {"asking", 1 << PYTHON_CALL_RUNNING | 1 << PYTHON_CALL_OVER},
    [PYTHON_CALL_RUNNING] = {"running", 1 << PYTHON_CALL_OVER},
    [PYTHON_CALL_OVER] = {"over", 0},
};

/* Freed when it is over: the run ended, the invocation was cancelled, or nothing was submitted. */
struct python_call {
    enum python_call_state state;
    unsigned long number;          /* in the log */
    struct invocation *invocation; /* borrowed: it cancels or outlives this */
    struct python_host *host;      /* borrowed */
    struct python_request request;
    struct code_cleaning code; /* of the request */
    json_t *from_block;        /* the environment that a block in the code asks for, or NULL */
    json_t *packages;          /* that a cell installs first, or NULL; owned */
    json_t *foreseen;          /* tools that are approved with the code, or NULL; owned */
    struct run_setting setting;
    struct run *run;   /* borrowed from the executor; or NULL, and instead ... */
    struct cell *cell; /* ... borrowed from its session */
    char *session;     /* owned: the handle of the session */
    struct python_progress progress;
    struct python_output output;
    struct python_sender sender;
    python_done_fn done;
};

static void python_call_set_state(struct python_call *call, enum python_call_state state)
{
    state_change(python_call_states, call->state, state, "python call %lu", call->number);
    call->state = state;
    if (state == PYTHON_CALL_RUNNING) {
        python_progress_start(&call->progress, call->run, call->cell);
        python_output_start(&call->output, call->run, call->cell);
    }
    if (state == PYTHON_CALL_OVER) {
        python_progress_deinit(&call->progress);
        python_output_deinit(&call->output);
    }
}

static struct python_call *python_call_new(struct invocation *invocation, struct python_host *host,
                                           const struct python_request *request,
                                           python_done_fn done)
{
    struct python_call *call = NEW(struct python_call);

    call->number = ++host->calls;
    call->invocation = invocation;
    call->host = host;
    call->request = *request;
    code_cleaning_do(&call->code, request->code, request->code_length);
    call->request.code = call->code.text;
    call->request.code_length = call->code.length;
    call->setting.code = &call->code;
    call->done = done;
    python_progress_init(&call->progress, invocation, host->settings.loop);
    python_output_init(&call->output, invocation, host->settings.loop);
    python_sender_init(&call->sender, invocation, &call->progress);
    return call;
}

static void python_call_free(struct python_call *call)
{
    code_cleaning_deinit(&call->code);
    json_decref(call->from_block);
    json_decref(call->packages);
    json_decref(call->foreseen);
    free(call->session);
    free(call);
}

/* The end of a call that does not come to `done`. */
static void python_call_finish(struct python_call *call)
{
    python_call_set_state(call, PYTHON_CALL_OVER);
    python_call_free(call);
}

/* Choosing */

/* The schema limits characters; this limits bytes. */
static int python_call_check_code(const struct python_request *request, struct error *err)
{
    if (request->code_length > PYTHON_CODE_BYTES)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "code is %zu bytes, the limit is %d",
                         request->code_length, PYTHON_CODE_BYTES);
    return 0;
}

/* A block in the code is a definition, where the call has no environment of its own and could
 * define one. */
static int python_call_read_block(struct python_call *call, struct error *err)
{
    const struct principal *principal = call->invocation->caller->principal;
    struct python_request *request = &call->request;

    if (request->environment || request->definition || python_session_continues(&call->request) ||
        !python_offer_for(&call->host->settings, principal).rules)
        return 0;
    if (script_block_read(request->code, request->code_length, &call->from_block, err) < 0)
        return -1;
    request->definition = call->from_block;
    return 0;
}

/* The environment that the call names, or the default environment of its caller. */
static const char *python_call_environment_name(const struct python_call *call)
{
    if (call->request.environment)
        return call->request.environment;
    return python_offer_for(&call->host->settings, call->invocation->caller->principal)
        .default_environment;
}

/* Comes before an environment is looked for or made. */
static int python_call_check_allowed(const struct python_call *call, struct error *err)
{
    const struct principal *principal = call->invocation->caller->principal;
    const char *name = call->request.environment;

    if (python_session_continues(&call->request))
        return 0; /* the session's environment is checked when it is known */
    if (!call->request.definition)
        name = python_call_environment_name(call);
    return limits_check_environment(principal->limits, principal->name, name, err);
}

/* The schema has checked the name. */
static struct environment *python_call_find_environment(const struct python_host *host,
                                                        const char *name, struct error *err)
{
    struct environment *environment;

    environment = catalog_find(host->settings.catalog, name);
    if (!environment)
        error_set(err, ERROR_INVALID_ARGUMENTS, "there is no environment \"%s\"", name);
    return environment;
}

static struct environment *python_call_define_environment(const struct python_call *call,
                                                          struct error *err)
{
    const struct python_settings *settings = &call->host->settings;
    struct environment *environment;

    if (!settings->rules) { /* no longer, since the call was asked about */
        error_set(err, ERROR_INVALID_ARGUMENTS, "this server lets no call define an environment");
        return NULL;
    }
    environment = catalog_define(settings->catalog, call->invocation->caller->principal->name,
                                 call->request.definition, settings->rules, err);
    if (!environment && call->from_block)
        error_prefix(err, "the script's block (# /// script) cannot be used");
    return environment;
}

static struct environment *python_call_choose_environment(struct python_call *call,
                                                          struct error *err)
{
    const struct python_request *request = &call->request;

    if (python_call_read_block(call, err) < 0 || python_call_check_allowed(call, err) < 0)
        return NULL;
    if (python_session_continues(&call->request))
        return python_session_environment(call->host, call->invocation->caller, &call->request,
                                          err);
    if (!request->definition)
        return python_call_find_environment(call->host, python_call_environment_name(call), err);
    if (request->environment) {
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "environment and environment_definition are both given; leave one of them out");
        return NULL;
    }
    return python_call_define_environment(call, err);
}

/* The schema has the largest limit of all environments; the limit of this one may be lower. */
static int python_call_choose_timeout(struct python_call *call, struct error *err)
{
    const struct environment *environment = call->setting.environment;
    double wanted = call->request.timeout;

    if (wanted > environment->settings.max_timeout)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "timeout is %g seconds, environment \"%s\" allows at most %g", wanted,
                         environment->name, environment->settings.max_timeout);
    call->setting.timeout = wanted > 0 ? wanted : environment->settings.timeout;
    return 0;
}

static int python_call_read_packages(struct python_call *call, struct error *err)
{
    const struct python_request *request = &call->request;

    if (!python_session_installs(call->host, call->invocation->caller, request,
                                 call->setting.environment))
        return 0;
    return pip_lines_read(request->code, request->code_length, &call->packages, err);
}

static int python_call_choose(struct python_call *call, struct error *err)
{
    if (python_call_check_code(&call->request, err) < 0)
        return -1;
    call->setting.environment =
        call->request.chosen ? call->request.chosen : python_call_choose_environment(call, err);
    if (!call->setting.environment ||
        provided_files_check(call->request.files, call->setting.environment->settings.disk, err) <
            0)
        return -1;
    if (python_call_choose_timeout(call, err) < 0)
        return -1;
    return python_call_read_packages(call, err);
}

/* Asking */

/* The working directory in words, for approval. Owned by the caller. */
static char *python_call_describe_directory(const struct python_call *call)
{
    const char *path = workplace_path(call->host->settings.workplace);

    if (path)
        return memory_format("%s, which stays", path);
    if (call->request.working_directory)
        return memory_format("%s, of an earlier call", call->request.working_directory);
    return memory_copy_string("a temporary one of this client's");
}

/* Packages need the approval that a definition with packages needs. */
static enum approval_policy python_call_least_approval(const struct python_call *call)
{
    const enum approval_policy own =
        python_session_approval(call->host, call->invocation->caller, &call->request);
    const struct caller_rules *rules = call->packages ? call->host->settings.rules : NULL;
    const enum approval_policy defined =
        rules ? caller_rules_settings(rules)->approval : APPROVAL_NEVER;

    return own > defined ? own : defined;
}

/* A client that can be asked while the code runs is asked then, and sees the arguments. */
static json_t *python_call_foresee(const struct python_call *call, const json_t *tools)
{
    const struct invocation_client *client = &call->invocation->client;
    const char *shown = call->request.shown;

    if (!client->can_elicit || client->can_elicit_aside)
        return NULL;
    return foreseen_tools_find(tools, shown ? shown : call->request.code,
                               shown ? strlen(shown) : call->request.code_length);
}

/* False: a person is asked first, or has said no. */
static bool python_call_settle_approval(struct python_call *call, const json_t *tools)
{
    struct tool_caller *caller = call->invocation->caller;
    AUTO_FREE char *directory = python_call_describe_directory(call);
    AUTO_FREE char *session = python_session_describe(call->host, caller, &call->request);
    const char *shown = call->request.shown;

    return approval_settle(call->invocation,
                           &(struct approval_subject){
                               .environment = call->setting.environment,
                               .least = python_call_least_approval(call),
                               .packages = call->packages,
                               .definition = call->request.definition,
                               .timeout = call->setting.timeout,
                               .directory = directory,
                               .session = session,
                               .tools = tools,
                               .foreseen = call->foreseen,
                               .files = call->request.files,
                               .code = shown ? shown : call->request.code,
                               .length = shown ? strlen(shown) : call->request.code_length,
                           },
                           caller->lasting ? &python_caller_of(caller)->approvals
                                           : &call->host->approvals);
}

/* Seeks the approval of the code, and of the tools that it names. False: a person is asked first,
 * or has said no. Later parts of a call have what its first part was given. */
static bool python_call_seek_approval(struct python_call *call)
{
    AUTO_JSON json_t *tools = NULL;

    if (call->request.chosen) {
        call->sender.sender.approved = call->request.approved_tools;
        return true;
    }
    tools = python_host_known_tools(call->host, call->setting.environment,
                                    call->invocation->caller->principal);
    call->foreseen = python_call_foresee(call, tools);
    call->sender.sender.approved = call->setting.approved_tools = call->foreseen;
    return python_call_settle_approval(call, tools);
}

/* Running */

static void python_call_on_step(void *data, const struct preparation_step *step)
{
    struct python_call *call = data;

    python_progress_step(&call->progress, step);
}

static void python_call_on_done(void *data, const struct run_report *report)
{
    struct python_call *call = data;
    struct run_facts facts;

    call->setting.session = call->session;
    file_resource_tell(call->host, call->invocation->caller, report);
    python_output_finish(&call->output, report->streams);
    python_call_set_state(call, PYTHON_CALL_OVER);
    run_facts_init(&facts, report, &call->setting);
    call->done(call->invocation, call->request.data, &facts);
    run_facts_deinit(&facts);
    python_call_free(call);
}

/* A caller that does not last comes to another directory next time, unless it names this one. */
static struct recurrence *python_call_recurrence(const struct python_call *call)
{
    struct tool_caller *caller = call->invocation->caller;

    if (caller->lasting)
        return &python_caller_of(caller)->recurrence;
    if (call->request.working_directory || workplace_path(call->host->settings.workplace))
        return &call->host->recurrence;
    return NULL;
}

static struct script_tools *python_call_open_tools(const struct python_call *call)
{
    return python_host_open_tools(call->host, call->setting.environment,
                                  call->invocation->caller->principal);
}

static struct run *python_call_submit_in(struct python_call *call,
                                         struct working_directory *directory,
                                         enum isolation isolation, struct error *err)
{
    struct tool_caller *caller = call->invocation->caller;
    const struct principal *principal = caller->principal;
    AUTO_JSON json_t *imports = import_names_read(call->request.code, call->request.code_length);
    struct script_tools *tools = python_call_open_tools(call);
    struct trace_variables variables;
    struct run *run;

    trace_variables_init(&variables, call->invocation);
    run = executor_submit(
        call->host->settings.executor,
        &(struct run_request){
            .environment = call->setting.environment,
            .directory = directory,
            .isolation = isolation,
            .recurrence = variables.list[0] ? NULL : python_call_recurrence(call),
            .imports = imports,
            .client = &python_caller_of(caller)->client,
            .code = call->request.code,
            .code_length = call->request.code_length,
            .variables = variables.list,
            .files = call->request.files,
            .timeout = call->setting.timeout,
            .owner = principal->name,
            .owner_runs = limits_find(principal->limits, principal->name)->concurrent_runs,
            .tools = tools,
            .sender = &call->sender.sender,
            .picture_helper = python_host_picture_helper(call->host, call->setting.environment),
            .data = call,
            .progress = python_call_on_step,
            .done = python_call_on_done,
        },
        err);
    if (!run)
        script_tools_free(tools);
    trace_variables_deinit(&variables);
    return run;
}

static struct notebook *python_call_open_session(struct python_call *call,
                                                 struct working_directory *directory,
                                                 enum isolation isolation, struct error *err)
{
    struct script_tools *tools = python_call_open_tools(call);
    struct notebook *notebook = notebooks_open(
        call->host->settings.notebooks,
        &(struct notebook_request){
            .environment = call->setting.environment,
            .directory = directory,
            .isolation = isolation,
            .owner = call->invocation->caller->principal->name,
            .tools = tools,
            .picture_helper = python_host_picture_helper(call->host, call->setting.environment),
        },
        err);

    if (!notebook)
        script_tools_free(tools);
    return notebook;
}

/* Packages that have been imported ahead do not see how a script changes its variables. Of a script
 * the starter knows whether it does; a session gets a Python of its own if its first cell does. */
static bool python_call_changes_variables(const struct python_call *call)
{
    static const char *const words[] = {"environ", "putenv"};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (memmem(call->request.code, call->request.code_length, words[i], strlen(words[i])))
            return true;
    return false;
}

/* Rules may have gone while the cell waited. */
static struct environment *python_call_extend(void *data, const char *venv, const json_t *packages,
                                              struct error *err)
{
    const struct python_call *call = data;
    const struct python_settings *settings = &call->host->settings;

    if (settings->rules)
        return catalog_extend_session(settings->catalog, call->setting.environment, venv, packages,
                                      settings->rules, err);
    error_set(err, ERROR_INVALID_ARGUMENTS, "this server lets no call install packages");
    return NULL;
}

static int python_call_submit_cell(struct python_call *call, struct notebook *notebook)
{
    AUTO_JSON json_t *imports = import_names_read(call->request.code, call->request.code_length);

    if (!notebook)
        return -1;
    call->session = memory_copy_string(notebook_handle(notebook));
    call->cell = notebook_submit(
        notebook,
        &(struct cell_request){
            .code = call->request.code,
            .code_length = call->request.code_length,
            .timeout = call->setting.timeout,
            .files = call->request.files,
            .imports = imports,
            .packages = call->packages,
            .recurrence = python_call_changes_variables(call) ? NULL : python_call_recurrence(call),
            .sender = &call->sender.sender,
            .data = call,
            .progress = python_call_on_step,
            .extend = python_call_extend,
            .done = python_call_on_done,
        });
    return 0;
}

/* Nobody knows the handle of a session whose first call is cancelled. */
static void python_call_cancel_cell(struct python_call *call)
{
    const char *owner = call->invocation->caller->principal->name;
    struct notebook *notebook;

    cell_cancel(call->cell);
    if (python_session_continues(&call->request) && !call->request.fork)
        return;
    notebook = notebooks_find(call->host->settings.notebooks, owner, call->session);
    if (notebook)
        notebooks_close(notebook);
}

/* The session that the call goes on in, or a copy of the session. */
static struct notebook *python_call_find_session(const struct python_call *call, struct error *err)
{
    struct notebook *notebook =
        python_session_find(call->host, call->invocation->caller, &call->request, err);

    if (!notebook || !call->request.fork)
        return notebook;
    return notebooks_copy(call->host->settings.notebooks, notebook, err);
}

static int python_call_submit(struct python_call *call, struct error *err)
{
    enum isolation isolation = environment_isolation(call->setting.environment);
    struct working_directory *directory;
    int ret = -1;

    if (python_session_continues(&call->request))
        return python_call_submit_cell(call, python_call_find_session(call, err));
    directory =
        python_caller_open_directory(call->invocation->caller, call->host->settings.workplace,
                                     isolation, call->request.working_directory, err);
    if (!directory)
        return -1;
    if (call->request.session) {
        ret = python_call_submit_cell(call,
                                      python_call_open_session(call, directory, isolation, err));
    } else {
        call->run = python_call_submit_in(call, directory, isolation, err);
        ret = call->run ? 0 : -1;
    }
    known_directories_note(call->host, call->invocation->caller,
                           working_directory_handle(directory));
    working_directory_unref(directory);
    return ret;
}

/* The code runs without the lines that have named them. */
static void python_call_take_packages(struct python_call *call)
{
    if (!call->packages)
        return;
    code_cleaning_take_packages(&call->code);
    call->request.code = call->code.text;
    call->request.code_length = call->code.length;
}

static enum outcome python_call_begin(struct python_call *call, struct error *err)
{
    if (python_call_choose(call, err) < 0)
        return OUTCOME_FAILED;
    python_call_set_state(call, PYTHON_CALL_ASKING);
    run_account_begin(call->invocation, &call->request, &call->setting);
    if (!python_call_seek_approval(call))
        return OUTCOME_READY;
    python_call_take_packages(call);
    if (python_call_submit(call, err) < 0)
        return OUTCOME_FAILED;
    python_call_set_state(call, PYTHON_CALL_RUNNING);
    return OUTCOME_PENDING;
}

enum outcome python_call_start_part(struct invocation *invocation, struct python_host *host,
                                    const struct python_request *request, python_done_fn done,
                                    struct python_call **ret, struct error *err)
{
    struct python_call *call = python_call_new(invocation, host, request, done);
    enum outcome outcome = python_call_begin(call, err);

    if (outcome == OUTCOME_PENDING)
        *ret = call;
    else
        python_call_finish(call);
    return outcome;
}

enum outcome python_call_start(struct invocation *invocation, struct python_host *host,
                               const struct python_request *request, python_done_fn done,
                               struct error *err)
{
    struct python_call *call;
    enum outcome outcome = python_call_start_part(invocation, host, request, done, &call, err);

    if (outcome == OUTCOME_PENDING)
        invocation->work = call;
    return outcome;
}

void *python_call_data(const struct invocation *invocation)
{
    const struct python_call *call = invocation->work;

    return call->request.data;
}

void python_call_cancel_part(struct python_call *call)
{
    if (call->cell)
        python_call_cancel_cell(call);
    else
        run_cancel(call->run);
    python_call_finish(call);
}

void python_call_cancel(struct invocation *invocation)
{
    python_call_cancel_part(invocation->work);
}
