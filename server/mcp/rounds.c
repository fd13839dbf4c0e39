#include "server/mcp/rounds.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/capabilities.h"
#include "server/mcp/job.h"
#include "server/mcp/question.h"
#include "server/mcp/request.h"
#include "server/mcp/request_state.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/tools/caller.h"

/* Asking */

static struct request_state_owner state_owner(const struct job *job)
{
    return (struct request_state_owner){
        .principal = job->invocation.caller->principal->name,
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

    json_object_foreach (job->invocation.result.requests, key, question) {
        const char *method = json_object_get_string(question, "method");
        AUTO_JSON json_t *missing = capabilities_missing(&job->invocation.client, method,
                                                         json_object_get(question, "params"));
        AUTO_FREE char *text = NULL;

        if (!missing)
            continue;
        text = json_text(missing);
        error_set(err, ERROR_MISSING_CAPABILITY, "%s, but this client does not declare %s",
                  question_need(method), text);
        if (mcp_version_is_modern(job->version))
            set_error_data(job, json_pack("{s:O}", "requiredCapabilities", missing));
        else
            err->code = ERROR_UNAVAILABLE;
        return -1;
    }
    return 0;
}

/* The questions by key, in the form of the client's revision. New reference. */
static json_t *translate_questions(const struct job *job)
{
    json_t *questions = json_object();
    const char *key;
    json_t *question;

    json_object_foreach (job->invocation.result.requests, key, question)
        json_object_set_new(questions, key, question_translate(question, job->version));
    return questions;
}

/* The content of the sealed state, for the next round. New reference. */
static json_t *state_content(const struct job *job, const json_t *questions)
{
    json_t *asked = json_array();
    const char *key;
    json_t *question;

    json_object_foreach ((json_t *)questions, key, question)
        json_array_append_new(asked, json_string(key));
    return json_pack("{s:o, s:O*, s:O*}", "asked", asked, "answers", job->rounds.answers, "state",
                     job->invocation.result.state);
}

/* 2026-07-28: the response lists the questions, and the server keeps nothing. */
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
    if (++job->rounds.count > JOB_ROUNDS)
        return error_set(err, ERROR_LIMIT, "more than %d rounds of questions", JOB_ROUNDS);
    json_decref(job->rounds.asked);
    job->rounds.asked = translate_questions(job);
    return 0;
}

/* Up to 2025-11-25: the client gets requests while its own request waits. */
static enum outcome ask_by_request(struct job *job, struct error *err)
{
    if (begin_round(job, err) < 0 ||
        inquiry_send(&job->rounds.inquiry, job->request, job->rounds.asked, err) < 0)
        return OUTCOME_FAILED;
    ev_timer_set(&job->rounds.patience, ROUNDS_PATIENCE_SECONDS, 0);
    ev_timer_start(job->server->loop, &job->rounds.patience);
    return OUTCOME_PENDING;
}

/* The keeper of a job without a request asks the client. */
static enum outcome ask_by_keeper(struct job *job, struct error *err)
{
    if (begin_round(job, err) < 0)
        return OUTCOME_FAILED;
    job->keeper->ask(job->keeper);
    return OUTCOME_PENDING;
}

/* Drops the answers of earlier rounds to questions that are asked again. */
static void forget_answers(struct job *job)
{
    const char *key;
    json_t *question;

    json_object_foreach (job->invocation.result.requests, key, question)
        json_object_del(job->rounds.answers, key);
}

enum outcome rounds_ask(struct job *job, json_t **ret, struct error *err)
{
    if (check_can_ask(job, err) < 0)
        return OUTCOME_FAILED;
    forget_answers(job);
    if (!job->request)
        return ask_by_keeper(job, err);
    return mcp_version_is_modern(job->version) ? ask_by_result(job, ret, err)
                                               : ask_by_request(job, err);
}

int rounds_ask_on(struct job *job, struct mcp_request *request, struct error *err)
{
    return inquiry_send(&job->rounds.inquiry, request, job->rounds.asked, err);
}

/* Answers */

void rounds_stop(struct job *job)
{
    ev_timer_stop(job->server->loop, &job->rounds.patience);
    inquiry_withdraw(&job->rounds.inquiry);
}

void rounds_next(struct job *job)
{
    struct rounds *rounds = &job->rounds;

    ev_timer_stop(job->server->loop, &rounds->patience);
    inquiry_deinit(&rounds->inquiry);
    json_decref(rounds->state);
    rounds->state = STEAL_PTR(job->invocation.result.state);
    invocation_reset(&job->invocation);
    job->invocation.answers = rounds->answers;
    job->invocation.state = rounds->state;
}

bool rounds_answer(struct job *job, const char *key, json_t *answer)
{
    struct rounds *rounds = &job->rounds;
    const json_t *question = json_object_get(job->invocation.result.requests, key);

    if (!rounds->answers)
        rounds->answers = json_object();
    json_object_set_new(rounds->answers, key, question_restore(question, job->version, answer));
    json_object_del(rounds->asked, key);
    return json_object_size(rounds->asked) == 0;
}

/* Restores the job from CONTENT, which was sealed here, and adds the client's RESPONSES. */
static void rounds_resume(struct job *job, const json_t *content, const json_t *responses)
{
    const json_t *key;
    size_t i;

    job->rounds.state = json_incref(json_object_get(content, "state"));
    job->rounds.answers = json_incref(json_object_get(content, "answers"));
    if (!job->rounds.answers)
        job->rounds.answers = json_object();
    json_array_foreach (json_object_get(content, "asked"), i, key) {
        json_t *answer = json_object_get(responses, json_string_value(key));

        if (json_is_object(answer))
            json_object_set(job->rounds.answers, json_string_value(key), answer);
    }
    job->invocation.answers = job->rounds.answers;
    job->invocation.state = job->rounds.state;
}

/* Answers without a state are ignored. */
int rounds_read(struct job *job, struct error *err)
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
    rounds_resume(job, content, responses);
    json_decref(content);
    return 0;
}

void rounds_deinit(struct job *job)
{
    struct rounds *rounds = &job->rounds;

    ev_timer_stop(job->server->loop, &rounds->patience);
    inquiry_deinit(&rounds->inquiry);
    json_decref(rounds->asked);
    json_decref(rounds->state);
    json_decref(rounds->answers);
}
