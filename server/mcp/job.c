#include "server/mcp/job.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/state.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/headers.h"
#include "server/mcp/logging.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_EXACT_INTEGER 9007199254740991.0 /* 2^53 - 1: every JSON reader keeps it */

static const struct state job_states[] = {
    [JOB_PREPARED] = {"prepared", 1 << JOB_RUNNING},
    [JOB_RUNNING] = {"running", 1 << JOB_ASKING | 1 << JOB_OVER},
    [JOB_ASKING] = {"asking", 1 << JOB_RUNNING | 1 << JOB_OVER},
    [JOB_OVER] = {"over", 0},
};

static void job_set_state(struct job *job, enum job_state state)
{
    state_change(job_states, job->state, state, "job of %s",
                 job->invocation.caller->principal->name);
    job->state = state;
}

static struct job *job_of(struct invocation *invocation)
{
    return CONTAINER_OF(invocation, struct job, invocation);
}

/* Messages on the way */

void progress_init(struct progress *progress, json_t *token)
{
    *progress = (struct progress){.token = token, .told = -INFINITY};
}

static json_t *progress_number(double value)
{
    if (trunc(value) == value && fabs(value) <= LARGEST_EXACT_INTEGER)
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *progress_next(struct progress *progress, enum mcp_version version, double value,
                      double total, const char *message)
{
    json_t *params;

    if (!progress->token || !isfinite(value) || value <= progress->told)
        return NULL;
    progress->told = value;
    params = json_pack("{s:O, s:o}", "progressToken", progress->token, "progress",
                       progress_number(value));
    if (isfinite(total) && total >= 0)
        json_object_set_new(params, "total", progress_number(total));
    if (message && version >= MCP_2025_03_26)
        json_object_set_new(params, "message", json_string_repaired(message, strlen(message)));
    return params;
}

static void job_tell_progress(struct mcp_request *request, double progress, double total,
                              const char *message)
{
    json_t *params = request->peer->slow ? NULL
                                         : progress_next(&request->progress, request->version,
                                                         progress, total, message);

    if (params)
        request->notify(request, "notifications/progress", params);
}

static void job_on_progress(struct invocation *invocation, double progress, double total,
                            const char *message)
{
    struct job *job = job_of(invocation);

    if (message) {
        free(job->message);
        job->message = memory_copy_string(message);
    }
    if (job->request)
        job_tell_progress(job->request, progress, total, message);
    else
        job->keeper->progress(job->keeper, progress, total, message);
}

/* A job that has left its request has room for nothing. */
static bool job_has_room(struct invocation *invocation)
{
    const struct mcp_request *request = job_of(invocation)->request;

    return request && request->has_room(request);
}

static void job_on_output(struct invocation *invocation, double progress, json_t *piece)
{
    struct mcp_request *request = job_of(invocation)->request;
    json_t *params = progress_next(&request->progress, request->version, progress, -1, NULL);

    if (!params) {
        json_decref(piece);
        return;
    }
    json_object_set_new(params, "_meta", json_pack("{s:o}", MCP_META_OUTPUT, piece));
    request->notify(request, "notifications/progress", params);
}

static void job_on_log(struct invocation *invocation, enum log_severity level, const char *logger,
                       json_t *data)
{
    struct job *job = job_of(invocation);

    if (job->request)
        logging_send(job->request, level, logger, data);
    else
        job->keeper->log(job->keeper, level, logger, data);
}

/* Only 2025-11-25 has ids for pages. */
static void job_on_page_done(struct invocation *invocation, const char *id)
{
    const struct job *job = job_of(invocation);

    if (job->version == MCP_2025_11_25 && job->request)
        job->request->notify(job->request, "notifications/elicitation/complete",
                             json_pack("{s:s}", "elicitationId", id));
}

static void job_on_release(struct invocation *invocation)
{
    struct mcp_request *request = job_of(invocation)->request;

    if (request && request->release)
        request->release(request);
}

/* The job stays in its request, where the question is. */
static const char *job_ask_aside(struct invocation *invocation, struct invocation_aside *aside,
                                 json_t *question)
{
    struct job *job = job_of(invocation);
    const char *why_not = NULL;

    if (!invocation->client.can_elicit)
        why_not = "a person has to approve it, and this client cannot ask one";
    else if (!job->request || !invocation->client.can_elicit_aside)
        why_not = "a person has to approve it, and this client asks none while a script waits";
    if (why_not) {
        json_decref(question);
        return why_not;
    }
    why_not = aside_ask(&job->aside, job->request, aside, question);
    if (!why_not)
        ev_timer_stop(job->server->loop, &job->stay);
    return why_not;
}

static void job_withdraw_aside(struct invocation *invocation, struct invocation_aside *aside)
{
    aside_withdraw(&job_of(invocation)->aside, aside);
}

/* The end of a round */

enum outcome job_fail(struct job *job, const struct error *failed, json_t **ret, struct error *err)
{
    *ret = job->kind->failure ? job->kind->failure(job, failed) : NULL;
    if (*ret)
        return OUTCOME_READY;
    error_copy(err, failed);
    if (job->kind->explain)
        job->kind->explain(job, err);
    return OUTCOME_FAILED;
}

/* Ends the job with its result or, if that is set, with FAILED. */
static enum outcome job_end(struct job *job, const struct error *failed, json_t **ret,
                            struct error *err)
{
    job_set_state(job, JOB_OVER);
    if (failed->code != ERROR_NONE)
        return job_fail(job, failed, ret, err);
    *ret = job->kind->result(job);
    return OUTCOME_READY;
}

/* The invocation has ended, with FAILED if that is set. */
static enum outcome job_conclude(struct job *job, struct error *failed, json_t **ret,
                                 struct error *err)
{
    enum outcome outcome;

    if (failed->code != ERROR_NONE || !job->invocation.result.requests)
        return job_end(job, failed, ret, err);
    job_set_state(job, JOB_ASKING);
    outcome = rounds_ask(job, ret, failed);
    if (outcome == OUTCOME_FAILED)
        return job_end(job, failed, ret, err);
    if (outcome == OUTCOME_READY)
        job_set_state(job, JOB_OVER);
    return outcome;
}

enum outcome job_start(struct job *job, json_t **ret, struct error *err)
{
    struct error_rest rest;
    struct error failed = ERROR_INIT_LONG(&rest);

    job_set_state(job, JOB_RUNNING);
    if (invocation_start(&job->invocation, &failed) == OUTCOME_PENDING)
        return OUTCOME_PENDING;
    return job_conclude(job, &failed, ret, err);
}

/* Tells the waiting request or keeper, unless the outcome is PENDING. */
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

static void job_on_done(struct invocation *invocation, const struct error *failed)
{
    struct job *job = job_of(invocation);
    struct error_rest rest;
    struct error why = ERROR_INIT_LONG(&rest);
    struct error err = ERROR_INIT;
    json_t *result = NULL;
    enum outcome outcome;

    if (failed)
        error_copy(&why, failed);
    outcome = job_conclude(job, &why, &result, &err);
    job_settle(job, outcome, result, &err);
}

/* Answers */

static void job_give_up(struct job *job, const struct error *why)
{
    struct error err = ERROR_INIT;
    json_t *result = NULL;
    enum outcome outcome;

    rounds_stop(job);
    outcome = job_end(job, why, &result, &err);
    job_settle(job, outcome, result, &err);
}

static void job_on_patience(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct job *job = CONTAINER_OF(timer, struct job, rounds.patience);
    struct error why = ERROR_INIT;

    (void)loop;
    (void)events;
    error_set(&why, ERROR_TIMEOUT, "the client did not answer within %.0f seconds",
              ROUNDS_PATIENCE_SECONDS);
    job_give_up(job, &why);
}

/* Everything is answered. */
static void job_go_on(struct job *job)
{
    struct error err = ERROR_INIT;
    json_t *ret = NULL;
    enum outcome outcome;

    rounds_next(job);
    outcome = job_start(job, &ret, &err);
    job_settle(job, outcome, ret, &err);
}

void job_answer(struct job *job, const char *key, json_t *answer)
{
    if (rounds_answer(job, key, answer))
        job_go_on(job);
}

void job_take_answer(struct job *job, unsigned number, json_t *result, const struct error *failed)
{
    AUTO_FREE char *key = NULL;

    if (aside_take(&job->aside, number, result, failed))
        return;
    key = inquiry_take(&job->rounds.inquiry, number);
    if (!key)
        return;
    if (failed) {
        struct error why = ERROR_INIT;

        error_copy(&why, failed);
        error_prefix(&why, "the client could not be asked");
        job_give_up(job, &why);
        return;
    }
    job_answer(job, key, result);
}

/* The trace that the request belongs to. `_meta` takes precedence over the header fields. */
static void read_trace(struct job *job)
{
    const json_t *meta = json_object_get(job->params, "_meta");
    const char *state = json_object_get_string(meta, "tracestate");
    struct trace *trace = &job->trace;

    if (!trace_follow(trace, json_object_get_string(meta, "traceparent"), state) &&
        !headers_follow_trace(job->request, trace))
        return;
    job->invocation.trace = trace->parent;
    job->invocation.trace_state = *trace->state ? trace->state : NULL;
}

/* The job itself */

void job_cancel(struct job *job)
{
    switch (job->state) {
    case JOB_RUNNING:
        invocation_cancel(&job->invocation);
        break;
    case JOB_ASKING:
        rounds_stop(job);
        break;
    case JOB_PREPARED:
    case JOB_OVER:
        return;
    }
    job_set_state(job, JOB_OVER);
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
    job->invocation = (struct invocation){
        .caller = tool_caller_ref(request->peer->caller),
        .client = capabilities_of_client(request),
        .arguments = arguments,
        .wants_progress = request->progress.token != NULL,
        .has_room = job_has_room,
        .output = job_on_output,
        .progress = job_on_progress,
        .log = job_on_log,
        .release = job_on_release,
        .page_done = job_on_page_done,
        .ask_aside = job_ask_aside,
        .withdraw_aside = job_withdraw_aside,
        .done = job_on_done,
    };
    read_trace(job);
    ev_timer_init(&job->rounds.patience, job_on_patience, 0, 0);
    ev_timer_init(&job->stay, job_on_stay, 0, 0);
    aside_init(&job->aside, job->server->loop);
    request->job = job;
    request->cancel = job_on_cancel;
    return rounds_read(job, err) == 0 ? job : NULL;
}

void job_free(struct job *job)
{
    struct tool_caller *caller;

    if (!job)
        return;
    caller = job->invocation.caller;
    ev_timer_stop(job->server->loop, &job->stay);
    aside_end(&job->aside);
    rounds_deinit(job);
    invocation_deinit(&job->invocation);
    tool_caller_unref(caller);
    json_decref(job->error_data);
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
    static const char left[] = "a person has to approve it, and the client has left the request";

    ev_timer_stop(job->server->loop, &job->stay);
    job->invocation.wants_output = false;
    aside_give_up(&job->aside, left, left);
    job->request->job = NULL;
    job->request = NULL;
    job->keeper = keeper;
}
