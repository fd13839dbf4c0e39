/* One call is one `struct python_call`: it is made when the call starts, holds the run and the
 * progress timer, and is freed when the run ends or the call is cancelled, whichever comes first.
 * What a caller keeps between its calls (its place in the queue, its working directory) is
 * released with the caller. */
#include "server/tools/run_python.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "environments/executor.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/approval.h"
#include "server/tools/run_account.h"
#include "server/tools/run_python_definition.h"
#include "server/tools/run_result.h"
#include "server/tools/tool.h"

#include <math.h>
#include <string.h>

#define PROGRESS_SECONDS   1.0  /* between two looks at the output */
#define SILENCE_SECONDS    3.5  /* after it, the next look tells something: every 4 seconds */
#define STEPS_PER_SECOND   2.0  /* that are told at once */
#define STEPS_IN_A_ROW     6.0  /* before that counts: most preparations have fewer */
#define TASK_AFTER_SECONDS 2.0  /* what takes longer is a task, if the server decides */
#define PROGRESS_LEAST     1e-3 /* what one progress is more than the last: they must rise */

struct run_python {
    struct run_python_settings settings;
    char *default_environment;  /* owned */
    struct approvals approvals; /* of callers who do not last, by principal */
};

/* What is kept for one caller. */
struct caller_state {
    struct executor_client client;
    struct working_directory *directory; /* owned reference; NULL before the first call */
    struct approvals approvals;
};

struct python_call {
    struct invocation *call;       /* borrowed: it cancels or outlives this */
    struct run_python *run_python; /* borrowed */
    struct run *run;               /* borrowed from the executor */
    struct run_setting setting;

    struct ev_timer timer; /* looks for something to tell; running when progress is wanted */
    double started;
    double told;      /* when the last progress was sent */
    double progress;  /* that was sent last */
    double allowance; /* how many steps may be told at once, when the last progress was sent */
    char *step;       /* of the preparation that the run waits for, or NULL; owned */
    char *last_line;  /* the output line or step that was told last, or NULL; owned */
};

static void caller_state_free(void *data)
{
    struct caller_state *state = data;

    working_directory_unref(state->directory);
    approvals_deinit(&state->approvals);
    free(state);
}

static struct caller_state *caller_state_of(struct invocation *call)
{
    struct caller_state *state = tool_caller_get(call->caller, call->name);

    if (state)
        return state;
    state = NEW(struct caller_state);
    executor_client_init(&state->client);
    tool_caller_keep(call->caller, call->name, state, caller_state_free);
    return state;
}

static void python_call_free(struct python_call *python_call)
{
    ev_timer_stop(python_call->run_python->settings.loop, &python_call->timer);
    free(python_call->step);
    free(python_call->last_line);
    free(python_call);
}

/* How many steps may be told at once NOW. */
static double run_python_allowance(const struct python_call *python_call, double now)
{
    return fmin(python_call->allowance + (now - python_call->told) * STEPS_PER_SECOND,
                STEPS_IN_A_ROW);
}

static void run_python_tell(struct python_call *python_call, const char *what)
{
    double now = clock_seconds();
    double seconds = round((now - python_call->started) * 1e3) / 1e3;

    python_call->allowance = fmax(run_python_allowance(python_call, now) - 1, 0);
    python_call->told = now;
    python_call->progress = fmax(seconds, python_call->progress + PROGRESS_LEAST);
    python_call->call->progress(python_call->call, python_call->progress, -1, what);
}

static void tell_line(struct python_call *python_call, const char *line)
{
    run_python_tell(python_call, line);
    free(python_call->last_line);
    python_call->last_line = memory_copy_string(line);
}

static bool is_news(const struct python_call *python_call, const char *line)
{
    return !python_call->last_line || strcmp(line, python_call->last_line) != 0;
}

/* Tells the newest output line, or the step that is waited for, when it is a new one, and
 * otherwise, after a silence, at least that the call is alive. */
static void run_python_on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct python_call *python_call = CONTAINER_OF(timer, struct python_call, timer);
    AUTO_FREE char *output = run_last_line(python_call->run);
    const char *line = output ? output : python_call->step;

    (void)loop;
    (void)events;
    if (line && is_news(python_call, line))
        tell_line(python_call, line);
    else if (clock_seconds() - python_call->told >= SILENCE_SECONDS)
        run_python_tell(python_call, line ? line : run_activity(python_call->run));
}

/* "pulling layer 3 of 7 (41 %)". Owned by the caller. */
static char *describe_step(const struct preparation_step *step)
{
    if (step->fraction < 0)
        return memory_copy_string(step->text);
    return memory_format("%s (%.0f %%)", step->text, floor(step->fraction * 100));
}

/* Each step of a preparation is told at once, and how it moves on, unless there are very many: then
 * the timer finds the newest. */
static void run_python_on_step(void *data, const struct preparation_step *step)
{
    struct python_call *python_call = data;

    if (!python_call->call->wants_progress)
        return;
    free(python_call->step);
    python_call->step = step ? describe_step(step) : NULL;
    if (step && is_news(python_call, python_call->step) &&
        run_python_allowance(python_call, clock_seconds()) >= 1)
        tell_line(python_call, python_call->step);
}

/* For clients that show what a server does; never code or output. */
static void log_end(struct invocation *call, const json_t *structured)
{
    invocation_log(call, SEVERITY_DEBUG, NULL,
                   json_pack("{s:s, s:O, s:O, s:O}", "event", "run ended", //
                             "environment", json_object_get(structured, "environment"),
                             "returncode", json_object_get(structured, "returncode"), //
                             "duration", json_object_get(structured, "duration")));
}

static void run_python_on_done(void *data, const struct run_report *report)
{
    struct python_call *python_call = data;
    struct invocation *call = python_call->call;
    json_t *structured = run_result_structured(report, &python_call->setting);
    AUTO_JSON json_t *text = run_result_text(structured);

    python_call_free(python_call);
    call->result.structured = structured;
    call->result.is_error = !json_is_true(json_object_get(structured, "success"));
    invocation_add_text(call, json_string_value(text), json_string_length(text));
    log_end(call, structured);
    run_account_end(call, structured);
    invocation_finish(call);
}

/* The environment that a call names, or the default one. The schema has checked the name. */
static struct environment *find_environment(const struct run_python *run_python,
                                            const json_t *arguments, struct error *err)
{
    const char *name = json_object_get_string(arguments, "environment");
    struct environment *environment;

    if (!name)
        name = run_python->default_environment;
    environment = catalog_find(run_python->settings.catalog, name);
    if (!environment)
        error_set(err, ERROR_INVALID_ARGUMENTS, "there is no environment \"%s\"", name);
    return environment;
}

/* Before an environment is looked for or made. */
static int run_python_check_allowed(const struct python_call *python_call, struct error *err)
{
    const struct principal *principal = python_call->call->caller->principal;
    const json_t *arguments = python_call->call->arguments;
    const char *name = json_object_get_string(arguments, "environment");

    if (!name && !json_object_get(arguments, "environment_definition"))
        name = python_call->run_python->default_environment;
    return limits_check_environment(principal->limits, principal->name, name, err);
}

static struct environment *run_python_choose_environment(const struct run_python *run_python,
                                                         const json_t *arguments, struct error *err)
{
    const json_t *definition = json_object_get(arguments, "environment_definition");

    if (!definition)
        return find_environment(run_python, arguments, err);
    if (json_object_get(arguments, "environment")) {
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "environment and environment_definition are both given; leave one of them out");
        return NULL;
    }
    return catalog_define(run_python->settings.catalog, definition, run_python->settings.rules,
                          err);
}

/* The schema knows the largest limit of all environments; this one's may be lower. */
static int choose_timeout(const struct environment *environment, const json_t *arguments,
                          double *ret, struct error *err)
{
    const json_t *wanted = json_object_get(arguments, "timeout");

    if (!json_is_number(wanted)) {
        *ret = environment->settings.timeout;
        return 0;
    }
    if (json_number_value(wanted) > environment->settings.max_timeout)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "timeout is %g seconds, environment \"%s\" allows at most %g",
                         json_number_value(wanted), environment->name,
                         environment->settings.max_timeout);
    *ret = json_number_value(wanted);
    return 0;
}

/* The schema counts characters; the limit is in bytes. */
static int check_code(const json_t *code, struct error *err)
{
    if (json_string_length(code) > RUN_PYTHON_CODE_BYTES)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "code is %zu bytes, the limit is %d",
                         json_string_length(code), RUN_PYTHON_CODE_BYTES);
    return 0;
}

/* The directory of an earlier result; or the one that is kept for the caller, made at its first
 * call; or a new one, for a caller that does not last. New reference. */
static struct working_directory *choose_directory(struct python_call *python_call,
                                                  struct caller_state *state, struct error *err)
{
    struct workplace *workplace = python_call->run_python->settings.workplace;
    const struct tool_caller *caller = python_call->call->caller;
    const char *principal = caller->principal->name;
    const char *handle = json_object_get_string(python_call->call->arguments, "working_directory");

    if (handle)
        return workplace_open(workplace, principal, handle, err);
    if (!caller->lasting)
        return workplace_open(workplace, principal, NULL, err);
    if (!state->directory)
        state->directory = workplace_open(workplace, principal, NULL, err);
    return state->directory ? working_directory_ref(state->directory) : NULL;
}

/* What the call asks for; nothing is begun. */
static int run_python_choose(struct python_call *python_call, struct error *err)
{
    const json_t *arguments = python_call->call->arguments;
    struct run_setting *setting = &python_call->setting;

    if (check_code(json_object_get(arguments, "code"), err) < 0)
        return -1;
    if (run_python_check_allowed(python_call, err) < 0)
        return -1;
    setting->environment = run_python_choose_environment(python_call->run_python, arguments, err);
    if (!setting->environment)
        return -1;
    return choose_timeout(setting->environment, arguments, &setting->timeout, err);
}

/* Where the call will work, for a person. Owned by the caller. */
static char *describe_directory(const struct python_call *python_call)
{
    const char *path = workplace_path(python_call->run_python->settings.workplace);
    const char *handle = json_object_get_string(python_call->call->arguments, "working_directory");

    if (path)
        return memory_format("%s, which stays", path);
    if (handle)
        return memory_format("%s, of an earlier call", handle);
    return memory_copy_string("a temporary one of this client's");
}

static bool is_approved(struct python_call *python_call)
{
    struct invocation *call = python_call->call;
    const json_t *code = json_object_get(call->arguments, "code");
    AUTO_FREE char *directory = describe_directory(python_call);

    return approval_settle(
        call,
        &(struct approval_subject){
            .environment = python_call->setting.environment,
            .definition = json_object_get(call->arguments, "environment_definition"),
            .timeout = python_call->setting.timeout,
            .directory = directory,
            .code = json_string_value(code),
            .length = json_string_length(code),
        },
        call->caller->lasting ? &caller_state_of(call)->approvals
                              : &python_call->run_python->approvals);
}

static int run_python_submit(struct python_call *python_call, struct error *err)
{
    const json_t *code = json_object_get(python_call->call->arguments, "code");
    struct caller_state *state = caller_state_of(python_call->call);
    const struct principal *principal = python_call->call->caller->principal;
    const struct principal_limits *limits = limits_find(principal->limits, principal->name);
    struct working_directory *directory = choose_directory(python_call, state, err);
    const struct run_setting *setting = &python_call->setting;
    struct trace_variables variables;

    if (!directory)
        return -1;
    trace_variables_init(&variables, python_call->call);
    python_call->run = executor_submit(python_call->run_python->settings.executor,
                                       &(struct run_request){
                                           .environment = setting->environment,
                                           .directory = directory,
                                           .client = &state->client,
                                           .code = json_string_value(code),
                                           .code_length = json_string_length(code),
                                           .variables = variables.list,
                                           .timeout = setting->timeout,
                                           .owner = principal->name,
                                           .owner_runs = limits->concurrent_runs,
                                           .data = python_call,
                                           .progress = run_python_on_step,
                                           .done = run_python_on_done,
                                       },
                                       err);
    trace_variables_deinit(&variables);
    working_directory_unref(directory);
    return python_call->run ? 0 : -1;
}

static enum outcome run_python_start(struct invocation *call, struct error *err)
{
    struct run_python *run_python = call->data;
    struct python_call *python_call = NEW(struct python_call);

    python_call->call = call;
    python_call->run_python = run_python;
    python_call->started = clock_seconds();
    python_call->told = python_call->started;
    python_call->allowance = STEPS_IN_A_ROW;
    ev_timer_init(&python_call->timer, run_python_on_timer, PROGRESS_SECONDS, PROGRESS_SECONDS);
    if (run_python_choose(python_call, err) < 0) {
        python_call_free(python_call);
        return OUTCOME_FAILED;
    }
    run_account_begin(call, &python_call->setting);
    if (!is_approved(python_call)) {
        python_call_free(python_call);
        return OUTCOME_READY;
    }
    if (run_python_submit(python_call, err) < 0) {
        python_call_free(python_call);
        return OUTCOME_FAILED;
    }
    call->work = python_call;
    if (call->wants_progress)
        ev_timer_start(run_python->settings.loop, &python_call->timer);
    return OUTCOME_PENDING;
}

static void run_python_cancel(struct invocation *call)
{
    struct python_call *python_call = call->work;

    run_cancel(python_call->run);
    python_call_free(python_call);
}

/* DESCRIPTION is borrowed by what is returned; the JSON in it is new. */
static struct tool run_python_describe(struct run_python *run_python, const char *description)
{
    const struct run_python_settings *settings = &run_python->settings;

    return (struct tool){
        .name = RUN_PYTHON_NAME,
        .title = RUN_PYTHON_TITLE,
        .description = description,
        .input_schema = run_python_input_schema(settings->catalog, settings->default_environment,
                                                settings->rules),
        .output_schema = run_python_output_schema(),
        .annotations = run_python_annotations(),
        .task_support = TOOL_TASK_OPTIONAL,
        .task_after = TASK_AFTER_SECONDS,
        .data = run_python,
        .start = run_python_start,
        .cancel = run_python_cancel,
    };
}

static void run_python_set(struct run_python *run_python,
                           const struct run_python_settings *settings)
{
    char *name = memory_copy_string(settings->default_environment);

    free(run_python->default_environment);
    run_python->default_environment = name;
    run_python->settings = *settings;
    run_python->settings.default_environment = name;
}

struct run_python *run_python_register(struct registry *registry,
                                       const struct run_python_settings *settings,
                                       struct error *err)
{
    struct run_python *run_python = NEW(struct run_python);
    AUTO_FREE char *description =
        run_python_description(settings->catalog, settings->default_environment);
    struct tool tool;

    run_python_set(run_python, settings);
    tool = run_python_describe(run_python, description);
    if (tool_register_function(registry, &tool, err) < 0) {
        run_python_free(run_python);
        return NULL;
    }
    return run_python;
}

const struct run_python_settings *run_python_settings(const struct run_python *run_python)
{
    return &run_python->settings;
}

static bool looks_alike(const struct tool *a, const struct tool *b)
{
    return strcmp(a->description, b->description) == 0 &&
           json_equal(a->input_schema, b->input_schema);
}

int run_python_reload(struct run_python *run_python, struct registry *registry,
                      const struct run_python_settings *settings, struct error *err)
{
    AUTO_FREE char *description =
        run_python_description(settings->catalog, settings->default_environment);
    const struct tool *before = tool_of(registry_find(registry, REGISTRY_TOOLS, RUN_PYTHON_NAME));
    struct tool tool;

    run_python_set(run_python, settings);
    tool = run_python_describe(run_python, description);
    if (!looks_alike(before, &tool))
        return tool_replace(registry, &tool, err);
    json_decref(tool.input_schema);
    json_decref(tool.output_schema);
    json_decref(tool.annotations);
    return 0;
}

void run_python_free(struct run_python *run_python)
{
    if (!run_python)
        return;
    free(run_python->default_environment);
    approvals_deinit(&run_python->approvals);
    free(run_python);
}
