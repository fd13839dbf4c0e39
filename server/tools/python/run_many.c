#include "server/tools/python/run_many.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "environments/executor.h"
#include "server/tools/account.h"
#include "server/tools/answer/run_result.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/invocation.h"
#include "server/tools/limits.h"
#include "server/tools/python/many_programs.h"
#include "server/tools/python/many_text.h"
#include "server/tools/python/python_arguments.h"
#include "server/tools/python/python_call.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/run_answer.h"
#include "server/tools/python/run_many_definition.h"
#include "server/tools/python/run_python.h"
#include "server/tools/tool.h"

#include <assert.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>

#define MANY_TASK_SECONDS  2.0 /* a longer call becomes a task if the server decides */
#define MANY_RETRY_SECONDS 1.0 /* until a run that was refused is tried again, at the latest */

enum {
    MANY_RESULT_BYTES = 16 * 1024 * 1024, /* of output and files in a structured result */
    MANY_FILE_BYTES = 256,                /* of a file there, about */
};

/* A call, until its last run is over or it is cancelled. */
struct many_call {
    struct invocation *invocation; /* borrowed: it cancels or outlives this */
    struct many_programs programs;
    struct python_request request;   /* of each run, but for its code */
    struct environment *environment; /* held, once a run is over: the environment of all runs */
    char *shown;                     /* owned: all programs, for a person who approves */
    json_t *approved_tools;          /* owned: names, for all runs; or NULL */
    char *directory;                 /* owned: the handle, once there is one */
    size_t parallel;
    ev_timer retry;   /* goes while the next run waits for a place */
    bool is_admitted; /* the next run has been counted as a call */
    struct list runs; /* of struct many_run */
    size_t going;
    size_t begun;
    size_t over;
    size_t failed;
    size_t room;     /* bytes that the structured result still has room for */
    json_t *entries; /* owned: by index; null for a run that is not over */
    char *failure;   /* owned: the text of a run that has failed, or NULL */
    size_t failure_at;
};

/* Freed when it is over or cancelled. */
struct many_run {
    struct list link;
    struct many_call *call;     /* borrowed */
    struct python_call *python; /* borrowed until it is over */
    size_t index;
    char *program; /* owned */
};

static void many_call_on_retry(struct ev_loop *loop, ev_timer *timer, int events);

static struct many_call *many_call_new(struct invocation *invocation)
{
    const struct python_host *host = invocation->data;
    const json_t *parallel = json_object_get(invocation->arguments, "parallel");
    struct many_call *call = NEW(struct many_call);

    call->invocation = invocation;
    call->request = python_arguments_read(invocation->arguments);
    call->parallel =
        parallel ? (size_t)json_number_value(parallel) : executor_places(host->settings.executor);
    call->room = MANY_RESULT_BYTES;
    call->entries = json_array();
    call->is_admitted = true; /* with the call itself */
    ev_timer_init(&call->retry, many_call_on_retry, 0., MANY_RETRY_SECONDS);
    list_init(&call->runs);
    return call;
}

static struct ev_loop *many_call_loop(const struct many_call *call)
{
    const struct python_host *host = call->invocation->data;

    return host->settings.loop;
}

static void many_call_free(struct many_call *call)
{
    ev_timer_stop(many_call_loop(call), &call->retry);
    many_programs_deinit(&call->programs);
    if (call->environment)
        environment_release(call->environment);
    json_decref(call->approved_tools);
    free(call->shown);
    free(call->directory);
    json_decref(call->entries);
    free(call->failure);
    free(call);
}

static struct many_run *many_run_new(struct many_call *call, size_t index)
{
    struct many_run *run = NEW(struct many_run);

    run->call = call;
    run->index = index;
    list_append(&call->runs, &run->link);
    call->going++;
    return run;
}

static void many_run_free(struct many_run *run)
{
    list_remove(&run->link);
    run->call->going--;
    free(run->program);
    free(run);
}

/* The ends of the runs */

static void many_call_tell_progress(const struct many_call *call)
{
    struct invocation *invocation = call->invocation;
    AUTO_FREE char *message = memory_format("%zu of %zu runs are over, %zu failed", call->over,
                                            call->programs.count, call->failed);

    if (invocation->wants_progress)
        invocation->progress(invocation, invocation_next_progress(invocation), -1, message);
}

/* RESULT is that of the run INDEX, or NULL; ERROR says why it was not run, or NULL. */
static void many_call_note(struct many_call *call, size_t index, json_t *result, const char *error)
{
    const bool is_success = json_is_true(json_object_get(result, "success"));

    json_array_set_new(
        call->entries, index,
        json_pack("{s:b, s:s?, s:O?}", "success", is_success, "error", error, "result", result));
    call->over++;
    call->failed += !is_success;
    many_call_tell_progress(call);
}

/* RESULT loses its output and its files where all results would become too long. */
static void many_call_bound(struct many_call *call, json_t *result)
{
    const size_t length = json_string_length(json_object_get(result, "stdout")) +
                          json_string_length(json_object_get(result, "stderr")) +
                          json_array_size(json_object_get(result, "files")) * MANY_FILE_BYTES;

    if (length <= call->room) {
        call->room -= length;
        return;
    }
    json_object_set_new(result, "stdout", json_string(""));
    json_object_set_new(result, "stderr", json_string(""));
    json_object_set_new(result, "truncated", json_true());
    json_object_set_new(result, "files", json_array());
    json_object_set_new(result, "files_complete", json_false());
}

/* Models read the first failure whole, with hints. New reference. */
static json_t *many_call_result(struct many_call *call, size_t index, struct run_facts *facts)
{
    struct run_answer answer;
    json_t *result;

    if (facts->is_success || call->failure)
        return run_result_structured(facts);
    run_answer_init(&answer, call->invocation, facts,
                    &(struct run_source){facts->setting->code, MANY_FAILURE_CHARACTERS});
    call->failure = memory_copy_string(json_string_value(answer.text));
    call->failure_at = index;
    result = json_incref(answer.structured);
    run_answer_deinit(&answer);
    return result;
}

/* The answer */

static void many_call_show(const struct many_call *call)
{
    struct invocation *invocation = call->invocation;

    if (!tool_is_structured(tool_of(invocation->entry), invocation->form))
        return;
    invocation->result.structured =
        json_pack("{s:b, s:I, s:I, s:O}", "success", call->failed == 0, "succeeded",
                  (json_int_t)(call->over - call->failed), "failed", (json_int_t)call->failed,
                  "results", call->entries);
}

static void many_call_finish(struct many_call *call)
{
    struct invocation *invocation = call->invocation;
    AUTO_FREE char *text = many_text(call->entries, call->failure, call->failure_at);

    invocation_add_text(invocation, text, strlen(text));
    many_call_show(call);
    account_note(invocation, "runs", json_integer((json_int_t)call->over));
    account_note(invocation, "failed", json_integer((json_int_t)call->failed));
    invocation->result.is_error = call->failed > 0;
    many_call_free(call);
    invocation_finish(invocation);
}

/* The runs, some at a time */

static void many_call_on_done(struct invocation *invocation, void *data, struct run_facts *facts);

/* The next run is the one behind. */
static void many_call_pass_on(struct many_call *call)
{
    json_array_append_new(call->entries, json_null());
    call->begun++;
    call->is_admitted = false;
}

/* Begins the next run. */
static enum outcome many_call_begin(struct many_call *call, struct error *err)
{
    struct many_run *run = many_run_new(call, call->begun);
    struct python_request request = call->request;
    enum outcome outcome;

    run->program = many_programs_make(&call->programs, run->index, &request.code_length);
    request.code = run->program;
    request.data = run;
    outcome = python_call_start_part(call->invocation, call->invocation->data, &request,
                                     many_call_on_done, &run->python, err);
    if (outcome == OUTCOME_PENDING)
        many_call_pass_on(call);
    else
        many_run_free(run);
    return outcome;
}

/* Each run counts as a call of its client, however often it is tried. */
static enum outcome many_call_begin_admitted(struct many_call *call, struct error *err)
{
    const struct principal *principal = call->invocation->caller->principal;

    if (!call->is_admitted && limits_admit_call(principal->limits, principal->name, err) < 0)
        return OUTCOME_FAILED;
    call->is_admitted = true;
    return many_call_begin(call, err);
}

/* False: there is no place for the next run now. */
static bool many_call_try(struct many_call *call)
{
    const size_t index = call->begun;
    struct error err = ERROR_INIT;
    enum outcome outcome = many_call_begin_admitted(call, &err);

    assert(outcome != OUTCOME_READY); /* nobody is asked any more */
    if (outcome == OUTCOME_PENDING)
        return true;
    if (err.code == ERROR_BUSY)
        return false;
    many_call_pass_on(call);
    many_call_note(call, index, NULL, err.message);
    return true;
}

/* Begins as many as may go, or ends the call. If the server has no place for a run, it waits, as in
 * the queue: until one of the others has ended, or a while if they are others' runs. */
static void many_call_go_on(struct many_call *call)
{
    ev_timer_stop(many_call_loop(call), &call->retry);
    while (call->going < call->parallel && call->begun < call->programs.count) {
        if (many_call_try(call))
            continue;
        ev_timer_again(many_call_loop(call), &call->retry);
        break;
    }
    if (call->over == call->programs.count)
        many_call_finish(call);
}

static void many_call_on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    many_call_go_on(CONTAINER_OF(timer, struct many_call, retry));
}

/* All runs have the environment and the directory of the first: another configuration may be in
 * force before the last one begins. */
static void many_call_hold(struct many_call *call, const struct run_facts *facts)
{
    if (call->environment)
        return;
    call->environment = facts->setting->environment;
    environment_hold(call->environment);
    call->request.environment = NULL;
    call->request.definition = NULL;
    call->request.chosen = call->environment;
    call->request.approved_tools = call->approved_tools =
        json_incref(facts->setting->approved_tools);
    if (!facts->report->working_directory)
        return;
    call->directory = memory_copy_string(facts->report->working_directory);
    call->request.working_directory = call->directory;
}

/* The reason why the first run could not be run is that of the others, too. */
static void many_call_leave_out_rest(struct many_call *call)
{
    while (call->begun < call->programs.count) {
        many_call_pass_on(call);
        many_call_note(call, call->begun - 1, NULL, "not run, as the first could not be run");
    }
}

static void many_call_on_done(struct invocation *invocation, void *data, struct run_facts *facts)
{
    struct many_run *run = data;
    struct many_call *call = run->call;
    const size_t index = run->index;
    const bool is_hopeless = !call->environment && facts->report->end == RUN_FAILED;
    json_t *result;

    (void)invocation;
    many_call_hold(call, facts);
    result = many_call_result(call, index, facts);
    many_run_free(run);
    many_call_bound(call, result);
    many_call_note(call, index, result, NULL);
    json_decref(result);
    if (is_hopeless)
        many_call_leave_out_rest(call);
    many_call_go_on(call);
}

/* The tool */

/* All programs run in one environment, that of the call. */
static void many_call_choose(struct many_call *call)
{
    const struct invocation *invocation = call->invocation;
    const struct python_host *host = invocation->data;

    if (!call->request.environment && !call->request.definition)
        call->request.environment =
            python_offer_for(&host->settings, invocation->caller->principal).default_environment;
}

static enum outcome run_many_start(struct invocation *invocation, struct error *err)
{
    const struct python_host *host = invocation->data;
    struct many_call *call;
    enum outcome outcome = OUTCOME_FAILED;

    if (!host->settings.has_many) { /* no longer, since the call was asked about */
        error_set(err, ERROR_INVALID_ARGUMENTS, "this server does not offer run_many");
        return OUTCOME_FAILED;
    }
    invocation->wants_output = false; /* nobody could tell the programs apart */
    call = many_call_new(invocation);
    if (many_programs_read(&call->programs, invocation->arguments, err) == 0) {
        call->shown = many_programs_text(&call->programs);
        call->request.shown = call->shown;
        many_call_choose(call);
        outcome = many_call_begin(call, err);
    }
    if (outcome == OUTCOME_PENDING)
        invocation->work = call;
    else
        many_call_free(call);
    return outcome;
}

static void run_many_cancel(struct invocation *invocation)
{
    struct many_call *call = invocation->work;

    LIST_FOR_EACH_SAFE (&call->runs, link) {
        struct many_run *run = CONTAINER_OF(link, struct many_run, link);

        python_call_cancel_part(run->python);
        many_run_free(run);
    }
    many_call_free(call);
}

static bool run_many_view(const struct tool *tool, const struct principal *principal,
                          struct tool_view *ret)
{
    const struct python_host *host = tool->data;
    struct python_offer offer;

    if (!python_offer_is_personal(principal))
        return false;
    if (!ret)
        return true;
    offer = python_offer_for(&host->settings, principal);
    ret->description = memory_copy_string(RUN_MANY_DESCRIPTION);
    ret->input_schema = run_many_input_schema(&offer);
    return true;
}

int run_many_offer(struct registry *registry, struct python_host *host, struct error *err)
{
    const struct python_offer offer = python_offer_for(&host->settings, NULL);
    struct tool tool = {
        .name = RUN_MANY_NAME,
        .title = RUN_MANY_TITLE,
        .description = RUN_MANY_DESCRIPTION,
        .form = host->settings.results,
        .task_support = TOOL_TASK_OPTIONAL,
        .task_after = MANY_TASK_SECONDS,
        .data = host,
        .view = run_many_view,
        .start = run_many_start,
        .cancel = run_many_cancel,
    };

    if (!host->settings.has_many) {
        registry_remove(registry, REGISTRY_TOOLS, RUN_MANY_NAME);
        return 0;
    }
    tool.input_schema = run_many_input_schema(&offer);
    tool.output_schema = run_many_output_schema();
    tool.annotations = run_python_annotations();
    return tool_offer(registry, &tool, err);
}
