#include "server/jsonrpc/call.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/protocol/message.h"
#include "server/jsonrpc/batch.h"
#include "server/jsonrpc/session.h"

#include <stdlib.h>
#include <string.h>

/* A request to the client, until it is answered. */
struct call_question {
    struct list link;  /* in the session */
    struct call *call; /* borrowed: the call that it belongs to */
    unsigned number;   /* its id */
};

/* Questions */

static void call_question_free(struct call_question *question)
{
    question->call->session->question_count--;
    list_remove(&question->link);
    free(question);
}

static void call_free_questions(const struct call *call)
{
    LIST_FOR_EACH_SAFE (&call->session->questions, link) {
        struct call_question *question = CONTAINER_OF(link, struct call_question, link);

        if (question->call == call)
            call_question_free(question);
    }
}

static struct call_question *call_question_find(const struct session *session, json_int_t number)
{
    LIST_FOR_EACH (&session->questions, link) {
        struct call_question *question = CONTAINER_OF(link, struct call_question, link);

        if ((json_int_t)question->number == number)
            return question;
    }
    return NULL;
}

void call_take_response(const struct session *session, const json_t *value)
{
    const json_t *id = json_object_get(value, "id");
    const json_t *error = json_object_get(value, "error");
    const char *reason = json_object_get_string(error, "message");
    struct call_question *question =
        json_is_integer(id) ? call_question_find(session, json_integer_value(id)) : NULL;
    struct error err = ERROR_INIT;
    struct call *call;
    unsigned number;

    if (!question)
        return;
    call = question->call;
    number = question->number;
    call_question_free(question);
    if (error || !json_is_object(json_object_get(value, "result")))
        error_set(&err, ERROR_UNAVAILABLE, "%s",
                  reason ? reason : "its answer has no result object");
    mcp_request_answer(&call->request, number, json_object_get(value, "result"),
                       err.code == ERROR_NONE ? NULL : &err);
}

/* The end */

void call_free(struct call *call)
{
    call_free_questions(call);
    call->session->call_count--;
    call->session->held_bytes -= call->bytes;
    list_remove(&call->link);
    mcp_request_deinit(&call->request);
    json_decref(call->message);
    free(call->id);
    free(call);
}

void call_close_member(struct session *session, struct batch *batch)
{
    struct sink *sink;

    if (!batch || !batch_close_member(batch))
        return;
    sink = batch->sink;
    if (sink && buffer_length(&batch->text))
        sink->send(sink, buffer_bytes(&batch->text), buffer_length(&batch->text), true, ERROR_NONE);
    else if (batch->is_owed)
        sink_close(sink);
    batch_free(batch);
    session->batch_count--;
}

/* The JSON-RPC response to CALL, made of ERR, the request's `text` or RESULT. Owned by the caller.
 */
static char *answer_text(const struct call *call, const json_t *result, const struct error *err)
{
    if (err)
        return message_error(call->id, err, call->request.error_data);
    if (call->request.text)
        return message_result_text(call->id, call->request.text);
    return message_result(call->id, result);
}

/* The one way out of a call that is answered. */
static void call_finish(struct call *call, json_t *result /* taken */, const struct error *err)
{
    AUTO_FREE char *text = answer_text(call, result, err);
    struct sink_response answer = {
        .id = call->id, .text = text, .code = err ? err->code : ERROR_NONE};
    struct session *session = call->session;
    struct batch *batch = call->batch;

    /* A large result exists twice, as a tree and as text. Free the tree before the text is copied.
     */
    json_decref(result);
    mcp_request_deinit(&call->request);
    sink_answer(call->sink, batch, &answer);
    call_free(call);
    call_close_member(session, batch);
}

void call_cancel(struct call *call)
{
    struct session *session = call->session;
    struct batch *batch = call->batch;
    struct sink *sink = batch ? NULL : call->sink;

    mcp_request_cancel(&call->request);
    call_free(call);
    sink_close(sink);
    call_close_member(session, batch);
}

/* Messages of the request */

static void call_on_notify(struct mcp_request *request, const char *method, json_t *params)
{
    sink_notify(CONTAINER_OF(request, struct call, request)->sink, method, params);
}

static bool call_has_room(const struct mcp_request *request)
{
    return sink_has_room(CONTAINER_OF(request, const struct call, request)->sink);
}

static unsigned call_on_ask(struct mcp_request *request, const char *method, json_t *params)
{
    struct call *call = CONTAINER_OF(request, struct call, request);
    struct session *session = call->session;
    AUTO_FREE char *text = message_request(session->last_question + 1, method, params);
    struct call_question *question;

    json_decref(params);
    if (session->question_count >= SESSION_QUESTIONS || !sink_send_aside(call->sink, text))
        return 0;
    question = NEW(struct call_question);
    question->call = call;
    question->number = ++session->last_question;
    list_append(&session->questions, &question->link);
    session->question_count++;
    return question->number;
}

static void call_on_withdraw(struct mcp_request *request, unsigned number)
{
    struct call *call = CONTAINER_OF(request, struct call, request);
    struct call_question *question = call_question_find(call->session, (json_int_t)number);

    if (!question)
        return;
    call_question_free(question);
    call_on_notify(request, "notifications/cancelled",
                   json_pack("{s:i}", "requestId", (int)number));
}

static void call_on_release(struct mcp_request *request)
{
    struct sink *sink = CONTAINER_OF(request, struct call, request)->sink;

    if (sink && sink->release)
        sink->release(sink);
}

static void call_on_done(struct mcp_request *request, json_t *result, const struct error *err)
{
    call_finish(CONTAINER_OF(request, struct call, request), result, err);
}

/* The call itself */

struct call *call_new(struct session *session, const struct arrival *arrival,
                      struct message *message)
{
    struct call *call = NEW(struct call);

    call->session = session;
    call->sink = arrival->sink;
    call->batch = arrival->batch;
    call->id = STEAL_PTR(message->id);
    call->message = json_incref(arrival->value);
    call->bytes = arrival->bytes;
    call->request = (struct mcp_request){
        .peer = &session->peer,
        .id = call->id,
        .method = message->method,
        .params = message->params,
        .in_batch = arrival->batch != NULL,
        .headers = arrival->headers,
        .notify = call_on_notify,
        .has_room = call_has_room,
        .ask = call_on_ask,
        .withdraw = call_on_withdraw,
        .release = call_on_release,
        .done = call_on_done,
    };
    list_append(&session->calls, &call->link);
    session->call_count++;
    session->held_bytes += call->bytes;
    return call;
}

struct call *call_find(const struct session *session, const char *id)
{
    LIST_FOR_EACH (&session->calls, link) {
        struct call *call = CONTAINER_OF(link, struct call, link);

        if (strcmp(call->id, id) == 0)
            return call;
    }
    return NULL;
}

void call_start(struct call *call)
{
    AUTO_JSON json_t *result = NULL;
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    switch (mcp_request_start(&call->request, &result, &err)) {
    case OUTCOME_PENDING:
        return;
    case OUTCOME_READY:
        call_finish(call, STEAL_PTR(result), NULL);
        return;
    case OUTCOME_FAILED:
        call_finish(call, NULL, &err);
        return;
    }
}
