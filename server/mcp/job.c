#include "server/mcp/job.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/headers.h"
#include "server/mcp/logging.h"
#include "server/mcp/peer.h"
#include "server/mcp/progress.h"
#include "server/mcp/question.h"
#include "server/mcp/request.h"
#include "server/mcp/request_state.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"

#include <stdlib.h>
#include <string.h>

#define JOB_PATIENCE_SECONDS 600.0 /* for the client to answer what it is asked */

static struct job *job_of(struct invocation *call)
{
    return CONTAINER_OF(call, struct job, call);
}

/* What is told on the way */

static void job_tell_progress(struct mcp_request *request, double progress, double total,
                              const char *message)
{
    json_t *params = request->peer->slow ? NULL
                                         : progress_next(&request->progress, request->version,
                                                         progress, total, message);

    if (params)
        request->notify(request, "notifications/progress", params);
}

static void job_on_progress(struct invocation *call, double progress, double total,
                            const char *message)
{
    struct job *job = job_of(call);

    if (message) {
        free(job->message);
        job->message = memory_copy_string(message);
    }
    if (job->request)
        job_tell_progress(job->request, progress, total, message);
    else
        job->keeper->progress(job->keeper, progress, total, message);
}

static void job_on_log(struct invocation *call, enum log_severity level, const char *logger,
                       json_t *data)
{
    struct job *job = job_of(call);

    if (job->request)
        logging_send(job->request, level, logger, data);
    else
        job->keeper->log(job->keeper, level, logger, data);
}

/* Only 2025-11-25 has ids for pages. */
static void job_on_page_done(struct invocation *call, const char *id)
{
    const struct job *job = job_of(call);

    if (job->version == MCP_2025_11_25 && job->request)
        job->request->notify(job->request, "notifications/elicitation/complete",
                             json_pack("{s:s}", "elicitationId", id));
}

static void job_on_release(struct invocation *call)
{
    struct mcp_request *request = job_of(call)->request;

    if (request && request->release)
        request->release(request);
}

/* Asking */

static struct request_state_owner state_owner(const struct job *job)
{
    return (struct request_state_owner){
        .principal = job->call.caller->principal->name,
        .method = job->request->method,
        .name = job->name,
        .arguments = json_object_get(job->params, "arguments"),
    };
}

static void set_error_data(struct job *job, json_t *data /* taken */)
{
    json_t **place = job->request ? &job->request->error_data : &job->error_data;

    json_decref(*place);
    *place = data;
}

static int check_can_ask(struct job *job, struct error *err)
{
    const char *key;
    json_t *question;

    json_object_foreach (job->call.result.requests, key, question) {
        const char *method = json_object_get_string(question, "method");
        AUTO_JSON json_t *missing =
            capabilities_missing(&job->call.client, method, json_object_get(question, "params"));
        AUTO_FREE char *text = NULL;

        if (!missing)
            continue;
        text = json_text(missing);
        error_set(err, ERROR_MISSING_CAPABILITY,
                  "%s, and this client cannot do it: it does not declare %s", question_need(method),
                  text);
        if (mcp_version_is_modern(job->version))
            set_error_data(job, json_pack("{s:O}", "requiredCapabilities", missing));
        else
            err->code = ERROR_UNAVAILABLE;
        return -1;
    }
    return 0;
}

/* What was asked, in the shape of the client's revision, by key. New reference. */
static json_t *translate_questions(const struct job *job)
{
    json_t *questions = json_object();
    const char *key;
    json_t *question;

    json_object_foreach (job->call.result.requests, key, question)
        json_object_set_new(questions, key, question_translate(question, job->version));
    return questions;
}

/* What has to be known when the answers come. New reference. */
static json_t *state_content(const struct job *job, const json_t *questions)
{
    json_t *asked = json_array();
    const char *key;
    json_t *question;

    json_object_foreach ((json_t *)questions, key, question)
        json_array_append_new(asked, json_string(key));
    return json_pack("{s:o, s:O*, s:O*}", "asked", asked, "answers", job->answers, "state",
                     job->call.result.state);
}

/* 2026-07-28: the answer to the request says what else is needed, and nothing is kept here. */
static enum outcome ask_by_result(struct job *job, json_t **ret, struct error *err)
{
    const struct request_state_owner owner = state_owner(job);
    json_t *questions = translate_questions(job);
    AUTO_JSON json_t *content = state_content(job, questions);
    AUTO_FREE char *state = request_state_seal(job->server->request_states, &owner, content, err);

    if (!state) {
        json_decref(questions);
        return OUTCOME_FAILED;
    }
    *ret =
        result_finish_as(job->server, job->version,
                         json_pack("{s:o, s:s}", "inputRequests", questions, "requestState", state),
                         "input_required");
    return OUTCOME_READY;
}

static int begin_round(struct job *job, struct error *err)
{
    if (++job->rounds > JOB_ROUNDS)
        return error_set(err, ERROR_LIMIT, "asked %d times, and there is more to ask", JOB_ROUNDS);
    json_decref(job->asked);
    job->asked = translate_questions(job);
    return 0;
}

/* Before: the client is asked while its request waits. */
static enum outcome ask_by_request(struct job *job, struct error *err)
{
    if (begin_round(job, err) < 0 || inquiry_send(&job->inquiry, job->request, job->asked, err) < 0)
        return OUTCOME_FAILED;
    ev_timer_set(&job->patience, JOB_PATIENCE_SECONDS, 0);
    ev_timer_start(job->server->loop, &job->patience);
    return OUTCOME_PENDING;
}

/* Without a request of its own, its keeper knows when and how. */
static enum outcome ask_by_keeper(struct job *job, struct error *err)
{
    if (begin_round(job, err) < 0)
        return OUTCOME_FAILED;
    job->keeper->ask(job->keeper);
    return OUTCOME_PENDING;
}

/* The end of a round */

enum outcome job_fail(struct job *job, const struct error *failed, json_t **ret, struct error *err)
{
    *ret = job->kind->failure ? job->kind->failure(job, failed) : NULL;
    if (*ret)
        return OUTCOME_READY;
    *err = *failed;
    if (job->kind->explain)
        job->kind->explain(job, err);
    return OUTCOME_FAILED;
}

/* What is asked again has no answer yet: an earlier one was to another question. */
static void forget_answers(struct job *job)
{
    const char *key;
    json_t *question;

    json_object_foreach (job->call.result.requests, key, question)
        json_object_del(job->answers, key);
}

static enum outcome job_ask(struct job *job, json_t **ret, struct error *err)
{
    if (check_can_ask(job, err) < 0)
        return OUTCOME_FAILED;
    forget_answers(job);
    if (!job->request)
        return ask_by_keeper(job, err);
    return mcp_version_is_modern(job->version) ? ask_by_result(job, ret, err)
                                               : ask_by_request(job, err);
}

/* The invocation has ended, in FAILED unless that is not set. */
static enum outcome job_conclude(struct job *job, struct error *failed, json_t **ret,
                                 struct error *err)
{
    if (failed->code == ERROR_NONE && job->call.result.requests) {
        enum outcome outcome = job_ask(job, ret, failed);

        if (outcome != OUTCOME_FAILED)
            return outcome;
    }
    if (failed->code != ERROR_NONE)
        return job_fail(job, failed, ret, err);
    *ret = job->kind->result(job);
    return OUTCOME_READY;
}

enum outcome job_start(struct job *job, json_t **ret, struct error *err)
{
    struct error failed = ERROR_INIT;

    if (invocation_start(&job->call, &failed) != OUTCOME_PENDING)
        return job_conclude(job, &failed, ret, err);
    job->is_running = true;
    return OUTCOME_PENDING;
}

/* Tells whoever waits, unless there is more to wait for. */
static void job_settle(struct job *job, enum outcome outcome, json_t *result,
                       const struct error *err)
{
    struct mcp_request *request = job->request;
    const struct error *failed = outcome == OUTCOME_FAILED ? err : NULL;

    if (outcome == OUTCOME_PENDING)
        return;
    if (request)
        request->done(request, result, failed);
    else
        job->keeper->done(job->keeper, result, failed);
}

static void job_on_done(struct invocation *call, const struct error *failed)
{
    struct job *job = job_of(call);
    struct error why = failed ? *failed : (struct error)ERROR_INIT;
    struct error err = ERROR_INIT;
    json_t *result = NULL;
    enum outcome outcome;

    job->is_running = false;
    outcome = job_conclude(job, &why, &result, &err);
    job_settle(job, outcome, result, &err);
}

/* Answers */

static void stop_asking(struct job *job)
{
    ev_timer_stop(job->server->loop, &job->patience);
    inquiry_withdraw(&job->inquiry);
}

static void job_give_up(struct job *job, struct error *why)
{
    struct error err = ERROR_INIT;
    json_t *result = NULL;
    enum outcome outcome;

    stop_asking(job);
    outcome = job_fail(job, why, &result, &err);
    job_settle(job, outcome, result, &err);
}

static void job_on_patience(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct job *job = CONTAINER_OF(timer, struct job, patience);
    struct error why = ERROR_INIT;

    (void)loop;
    (void)events;
    error_set(&why, ERROR_TIMEOUT, "the client did not answer within %.0f seconds",
              JOB_PATIENCE_SECONDS);
    job_give_up(job, &why);
}

/* Makes what was kept the state of the next round. */
static void next_round(struct job *job)
{
    json_decref(job->state);
    job->state = STEAL_PTR(job->call.result.state);
    invocation_reset(&job->call);
    job->call.answers = job->answers;
    job->call.state = job->state;
}

/* What is asked by KEY is answered. */
static void job_keep_answer(struct job *job, const char *key, json_t *answer)
{
    if (!job->answers)
        job->answers = json_object();
    json_object_set(job->answers, key, answer);
    json_object_del(job->asked, key);
}

/* Starts the next round when everything is answered. */
static void job_go_on(struct job *job)
{
    struct error err = ERROR_INIT;
    json_t *ret = NULL;
    enum outcome outcome;

    if (json_object_size(job->asked) > 0)
        return;
    ev_timer_stop(job->server->loop, &job->patience);
    inquiry_deinit(&job->inquiry);
    next_round(job);
    outcome = job_start(job, &ret, &err);
    job_settle(job, outcome, ret, &err);
}

void job_take_answer(struct job *job, unsigned number, json_t *result, const struct error *failed)
{
    AUTO_FREE char *key = inquiry_take(&job->inquiry, number);

    if (!key)
        return;
    if (failed) {
        struct error why = *failed;

        error_prefix(&why, "the client could not be asked");
        job_give_up(job, &why);
        return;
    }
    job_keep_answer(job, key, result);
    job_go_on(job);
}

void job_answer(struct job *job, const char *key, json_t *answer)
{
    job_keep_answer(job, key, answer);
    job_go_on(job);
}

/* Takes over what CONTENT, which was sealed here, and RESPONSES, which the client adds, say. */
static void job_resume(struct job *job, const json_t *content, const json_t *responses)
{
    const json_t *key;
    size_t i;

    job->state = json_incref(json_object_get(content, "state"));
    job->answers = json_incref(json_object_get(content, "answers"));
    if (!job->answers)
        job->answers = json_object();
    json_array_foreach (json_object_get(content, "asked"), i, key) {
        json_t *answer = json_object_get(responses, json_string_value(key));

        if (json_is_object(answer))
            json_object_set(job->answers, json_string_value(key), answer);
    }
    job->call.answers = job->answers;
    job->call.state = job->state;
}

/* Answers without the state that goes with them answer nothing: they are passed over. */
static int read_round(struct job *job, struct error *err)
{
    const struct request_state_owner owner = state_owner(job);
    const json_t *responses = json_object_get(job->params, "inputResponses");
    const json_t *state = json_object_get(job->params, "requestState");
    json_t *content;

    if (!mcp_version_is_modern(job->version))
        return 0;
    if (responses && !json_is_object(responses))
        return error_set(err, ERROR_INVALID_PARAMS, "inputResponses must be an object");
    if (!state)
        return 0;
    if (!json_is_string(state))
        return error_set(err, ERROR_INVALID_PARAMS, "requestState must be a string");
    content =
        request_state_open(job->server->request_states, &owner, json_string_value(state), err);
    if (!content)
        return -1;
    job_resume(job, content, responses);
    json_decref(content);
    return 0;
}

/* What the request is part of: `_meta` says it before the header fields do. */
static void read_trace(struct job *job)
{
    const json_t *meta = json_object_get(job->params, "_meta");
    const char *state = json_object_get_string(meta, "tracestate");
    struct trace *trace = &job->trace;

    if (!trace_follow(trace, json_object_get_string(meta, "traceparent"), state) &&
        !headers_follow_trace(job->request, trace))
        return;
    job->call.trace = trace->parent;
    job->call.trace_state = *trace->state ? trace->state : NULL;
}

/* The job itself */

void job_cancel(struct job *job)
{
    if (job->is_running)
        invocation_cancel(&job->call);
    else
        stop_asking(job);
    job->is_running = false;
}

static void job_on_cancel(struct mcp_request *request)
{
    job_cancel(request->job);
}

static void job_on_stay(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct job *job = CONTAINER_OF(timer, struct job, stay);

    (void)loop;
    (void)events;
    job->leave(job);
}

struct job *job_new(struct mcp_request *request, const struct job_kind *kind, const char *name,
                    json_t *arguments, struct error *err)
{
    struct job *job = NEW(struct job);

    job->kind = kind;
    job->server = request->peer->server;
    job->request = request;
    job->version = request->version;
    job->params = json_incref(request->params);
    job->name = name;
    job->call = (struct invocation){
        .caller = tool_caller_ref(request->peer->caller),
        .client = capabilities_of_client(request),
        .arguments = arguments,
        .wants_progress = request->progress.token != NULL,
        .progress = job_on_progress,
        .log = job_on_log,
        .release = job_on_release,
        .page_done = job_on_page_done,
        .done = job_on_done,
    };
    read_trace(job);
    ev_timer_init(&job->patience, job_on_patience, 0, 0);
    ev_timer_init(&job->stay, job_on_stay, 0, 0);
    request->job = job;
    request->cancel = job_on_cancel;
    return read_round(job, err) == 0 ? job : NULL;
}

void job_free(struct job *job)
{
    struct tool_caller *caller;

    if (!job)
        return;
    caller = job->call.caller;
    ev_timer_stop(job->server->loop, &job->stay);
    ev_timer_stop(job->server->loop, &job->patience);
    inquiry_deinit(&job->inquiry);
    invocation_deinit(&job->call);
    tool_caller_unref(caller);
    json_decref(job->error_data);
    json_decref(job->asked);
    json_decref(job->state);
    json_decref(job->answers);
    json_decref(job->params);
    free(job->message);
    free(job);
}

/* Leaving the request */

void job_leave_after(struct job *job, double seconds, void (*leave)(struct job *job))
{
    job->leave = leave;
    ev_timer_set(&job->stay, seconds, 0);
    ev_timer_start(job->server->loop, &job->stay);
}

void job_leave(struct job *job, struct job_keeper *keeper)
{
    ev_timer_stop(job->server->loop, &job->stay);
    job->request->job = NULL;
    job->request = NULL;
    job->keeper = keeper;
}

int job_ask_on(struct job *job, struct mcp_request *request, struct error *err)
{
    return inquiry_send(&job->inquiry, request, job->asked, err);
}

void job_stop_asking(struct job *job)
{
    inquiry_withdraw(&job->inquiry);
}
