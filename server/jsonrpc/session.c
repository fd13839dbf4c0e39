#include "server/jsonrpc/session.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/jsonrpc/batch.h"
#include "server/jsonrpc/message.h"
#include "server/mcp/request.h"

#include <stdlib.h>
#include <string.h>

/* A request from its arrival to its answer. */
struct call {
    struct list link;        /* in the session */
    struct session *session; /* borrowed: the owner */
    struct sink *sink;       /* borrowed: where everything goes; NULL: nowhere any more */
    struct batch *batch;     /* borrowed: where the answer goes; NULL: to the sink */
    char *id;                /* JSON text; owned */
    json_t *message;         /* owned: method and params are in it */
    size_t bytes;            /* what it counts for in the session's held_bytes */
    struct mcp_request request;
};

/* A request to the client, until it is answered. */
struct session_question {
    struct list link;  /* in the session */
    struct call *call; /* borrowed: what it belongs to */
    unsigned number;   /* its id */
};

/* A message on its way in. Everything is borrowed. */
struct arrival {
    json_t *value;
    const struct scan *scan;
    size_t element; /* position in the batch, 0 without one */
    struct batch *batch;
    struct sink *sink;
    const struct mcp_headers *headers;
    size_t bytes;
};

/* Out */

/* A response; nothing in it is owned. */
struct session_answer {
    const char *id; /* JSON text, or NULL */
    const char *text;
    enum error_code code; /* of the error in it, or ERROR_NONE */
};

static void send_answer(struct sink *sink, struct batch *batch, const struct session_answer *answer)
{
    if (batch)
        batch_add(batch, answer->id, answer->text);
    else if (sink)
        sink->send(sink, answer->text, strlen(answer->text), true, answer->code);
}

/* Answers a message that does not become a call. */
static void session_refuse(struct sink *sink, struct batch *batch, const char *id,
                           const struct error *err)
{
    AUTO_FREE char *text = message_error(id, err, NULL);
    struct session_answer answer = {.id = id, .text = text, .code = err->code};

    send_answer(sink, batch, &answer);
}

static void close_sink(struct sink *sink)
{
    if (sink && sink->close)
        sink->close(sink);
}

/* One member of BATCH is done. The whole answer goes out with the last. */
static void close_member(struct session *session, struct batch *batch)
{
    struct sink *sink;

    if (!batch || !batch_close_member(batch))
        return;
    sink = batch->sink;
    if (sink && buffer_length(&batch->text))
        sink->send(sink, buffer_bytes(&batch->text), buffer_length(&batch->text), true, ERROR_NONE);
    else if (batch->is_owed)
        close_sink(sink);
    batch_free(batch);
    session->batch_count--;
}

/* Calls */

static void session_question_free(struct session *session, struct session_question *question)
{
    session->question_count--;
    list_remove(&question->link);
    free(question);
}

static void free_questions(const struct call *call)
{
    LIST_FOR_EACH_SAFE (&call->session->questions, link) {
        struct session_question *question = CONTAINER_OF(link, struct session_question, link);

        if (question->call == call)
            session_question_free(call->session, question);
    }
}

static void session_call_free(struct call *call)
{
    free_questions(call);
    call->session->call_count--;
    call->session->held_bytes -= call->bytes;
    list_remove(&call->link);
    mcp_request_deinit(&call->request);
    json_decref(call->message);
    free(call->id);
    free(call);
}

/* The answer to CALL: RESULT, or what the request has as text, or ERR. Owned by the caller. */
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
    struct session_answer answer = {
        .id = call->id, .text = text, .code = err ? err->code : ERROR_NONE};
    struct session *session = call->session;
    struct batch *batch = call->batch;

    /* A large result is there as a tree and as text: the tree goes before the text is copied. */
    json_decref(result);
    mcp_request_deinit(&call->request);
    send_answer(call->sink, batch, &answer);
    session_call_free(call);
    close_member(session, batch);
}

/* The way out of one that is not. */
static void call_cancel(struct call *call)
{
    struct session *session = call->session;
    struct batch *batch = call->batch;
    struct sink *sink = batch ? NULL : call->sink;

    mcp_request_cancel(&call->request);
    session_call_free(call);
    close_sink(sink);
    close_member(session, batch);
}

/* Sends what is not an answer, if anybody takes it. */
static bool send_aside(struct sink *sink, const char *text)
{
    if (!sink || sink->answers_only)
        return false;
    sink->send(sink, text, strlen(text), false, ERROR_NONE);
    return true;
}

static void session_notify(struct sink *sink, const char *method, json_t *params /* taken */)
{
    AUTO_FREE char *text = message_notification(method, params);

    json_decref(params);
    send_aside(sink, text);
}

static void session_on_notify(struct mcp_request *request, const char *method, json_t *params)
{
    session_notify(CONTAINER_OF(request, struct call, request)->sink, method, params);
}

static void session_on_peer_notify(struct mcp_peer *peer, const char *method, json_t *params)
{
    session_notify(CONTAINER_OF(peer, struct session, peer)->sink, method, params);
}

static unsigned session_on_ask(struct mcp_request *request, const char *method, json_t *params)
{
    struct call *call = CONTAINER_OF(request, struct call, request);
    struct session *session = call->session;
    AUTO_FREE char *text = message_request(session->last_question + 1, method, params);
    struct session_question *question;

    json_decref(params);
    if (session->question_count >= SESSION_QUESTIONS || !send_aside(call->sink, text))
        return 0;
    question = NEW(struct session_question);
    question->call = call;
    question->number = ++session->last_question;
    list_append(&session->questions, &question->link);
    session->question_count++;
    return question->number;
}

static struct session_question *question_find(const struct session *session, json_int_t number)
{
    LIST_FOR_EACH (&session->questions, link) {
        struct session_question *question = CONTAINER_OF(link, struct session_question, link);

        if ((json_int_t)question->number == number)
            return question;
    }
    return NULL;
}

static void session_on_withdraw(struct mcp_request *request, unsigned number)
{
    struct call *call = CONTAINER_OF(request, struct call, request);
    struct session_question *question = question_find(call->session, (json_int_t)number);

    if (!question)
        return;
    session_question_free(call->session, question);
    session_on_notify(request, "notifications/cancelled",
                      json_pack("{s:i}", "requestId", (int)number));
}

static void session_on_release(struct mcp_request *request)
{
    struct sink *sink = CONTAINER_OF(request, struct call, request)->sink;

    if (sink && sink->release)
        sink->release(sink);
}

static void session_on_done(struct mcp_request *request, json_t *result, const struct error *err)
{
    call_finish(CONTAINER_OF(request, struct call, request), result, err);
}

static struct call *session_call_new(struct session *session, const struct arrival *arrival,
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
        .notify = session_on_notify,
        .ask = session_on_ask,
        .withdraw = session_on_withdraw,
        .release = session_on_release,
        .done = session_on_done,
    };
    list_append(&session->calls, &call->link);
    session->call_count++;
    session->held_bytes += call->bytes;
    return call;
}

static struct call *call_find(const struct session *session, const char *id)
{
    LIST_FOR_EACH (&session->calls, link) {
        struct call *call = CONTAINER_OF(link, struct call, link);

        if (strcmp(call->id, id) == 0)
            return call;
    }
    return NULL;
}

static int session_check_room(const struct session *session, const struct arrival *arrival,
                              const char *id, struct error *err)
{
    if (call_find(session, id))
        return error_set(err, ERROR_INVALID_REQUEST, "a request with this id is in flight");
    if (session->call_count >= SESSION_CALLS)
        return error_set(err, ERROR_BUSY, "%d requests wait for their answers; try again later",
                         SESSION_CALLS);
    if (session->held_bytes + arrival->bytes > SESSION_HELD_BYTES)
        return error_set(err, ERROR_BUSY,
                         "requests of %d bytes wait for their answers; try again later",
                         SESSION_HELD_BYTES);
    return 0;
}

static void call_start(struct call *call)
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

/* In */

/* The call that a request becomes, or NULL when it has been refused. */
static struct call *session_on_request(struct session *session, const struct arrival *arrival,
                                       struct message *message)
{
    struct error err = ERROR_INIT;

    if (session_check_room(session, arrival, message->id, &err) == 0)
        return session_call_new(session, arrival, message);
    session_refuse(arrival->sink, arrival->batch, message->id, &err);
    return NULL;
}

/* Others than this one change nothing here. A call that is not found has been answered already. */
static void session_on_notification(struct session *session, const struct arrival *arrival,
                                    const struct message *message)
{
    AUTO_FREE char *id = NULL;
    struct call *call;

    if (!message->method || strcmp(message->method, "notifications/cancelled") != 0)
        return;
    id = message_id_text(json_object_get(message->params, "requestId"),
                         scan_find(arrival->scan, arrival->element, SCAN_REQUEST_ID));
    call = id ? call_find(session, id) : NULL;
    if (call)
        call_cancel(call);
}

/* What the client says to what it was asked; to anything else it says nothing that matters. */
static void session_on_response(struct session *session, const json_t *value)
{
    const json_t *id = json_object_get(value, "id");
    const json_t *error = json_object_get(value, "error");
    const char *reason = json_object_get_string(error, "message");
    struct session_question *question =
        json_is_integer(id) ? question_find(session, json_integer_value(id)) : NULL;
    struct error err = ERROR_INIT;
    struct call *call;
    unsigned number;

    if (!question)
        return;
    call = question->call;
    number = question->number;
    session_question_free(session, question);
    if (error || !json_is_object(json_object_get(value, "result")))
        error_set(&err, ERROR_UNAVAILABLE, "%s", reason ? reason : "it answered with no object");
    mcp_request_answer(&call->request, number, json_object_get(value, "result"),
                       err.code == ERROR_NONE ? NULL : &err);
}

/* True when it is to be answered. */
static bool session_on_message(struct session *session, const struct arrival *arrival)
{
    struct message message;
    struct error err = ERROR_INIT;
    struct call *call = NULL;
    bool is_owed = true;

    if (message_read(&message, arrival->value, arrival->scan, arrival->element, &err) < 0)
        session_refuse(arrival->sink, arrival->batch, message.id, &err);
    else if (message.kind == MESSAGE_REQUEST)
        call = session_on_request(session, arrival, &message);
    else
        is_owed = false;
    if (!is_owed && message.kind == MESSAGE_NOTIFICATION)
        session_on_notification(session, arrival, &message);
    else if (!is_owed)
        session_on_response(session, arrival->value);
    message_deinit(&message);
    if (arrival->batch)
        arrival->batch->is_owed |= is_owed;
    if (call)
        call_start(call);
    else
        close_member(session, arrival->batch);
    return is_owed;
}

static int check_batch(const struct session *session, const json_t *messages, struct error *err)
{
    if (!mcp_peer_allows_batch(&session->peer))
        return error_set(err, ERROR_INVALID_REQUEST,
                         "batches are part of protocol revision 2025-03-26 only");
    if (json_array_size(messages) == 0)
        return error_set(err, ERROR_INVALID_REQUEST, "the batch is empty");
    if (json_array_size(messages) > BATCH_MESSAGES)
        return error_set(err, ERROR_INVALID_REQUEST, "a batch of more than %d messages",
                         BATCH_MESSAGES);
    if (session->batch_count >= SESSION_BATCHES)
        return error_set(err, ERROR_BUSY, "%d batches wait for their answers; try again later",
                         SESSION_BATCHES);
    return 0;
}

/* The last member may free the batch. */
static bool session_on_batch(struct session *session, const struct arrival *whole)
{
    size_t size = json_array_size(whole->value);
    struct error err = ERROR_INIT;
    struct batch *batch;
    bool is_owed = false;

    if (check_batch(session, whole->value, &err) < 0) {
        session_refuse(whole->sink, NULL, NULL, &err);
        return true;
    }
    batch = batch_new(size);
    batch->sink = whole->sink;
    list_append(&session->batches, &batch->link);
    session->batch_count++;
    for (size_t i = 0; i < size; i++) {
        struct arrival arrival = *whole;

        arrival.value = json_array_get(whole->value, i);
        arrival.element = i;
        arrival.batch = batch;
        arrival.bytes = whole->bytes / size;
        is_owed |= session_on_message(session, &arrival);
    }
    return is_owed;
}

bool session_take(struct session *session, const struct incoming *incoming, struct sink *sink,
                  const struct mcp_headers *headers)
{
    struct arrival arrival = {
        .value = incoming->value,
        .scan = &incoming->scan,
        .sink = sink,
        .headers = headers,
        .bytes = incoming->bytes,
    };

    if (!incoming->value) {
        session_refuse(sink, NULL, NULL, &incoming->fault);
        return true;
    }
    return json_is_array(incoming->value) ? session_on_batch(session, &arrival)
                                          : session_on_message(session, &arrival);
}

void session_receive(struct session *session, char *text, size_t length)
{
    struct incoming incoming;

    incoming_init(&incoming, text, length);
    session_take(session, &incoming, session->sink, NULL);
    incoming_deinit(&incoming);
}

void session_refuse_line(struct session *session, size_t limit)
{
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_INVALID_REQUEST, "message is longer than %zu bytes", limit);
    session_refuse(session->sink, NULL, NULL, &err);
}

/* The session itself */

void session_init(struct session *session, struct mcp_server *server,
                  const struct mcp_peer_settings *settings, struct sink *sink)
{
    *session = (struct session){.sink = sink};
    mcp_peer_init(&session->peer, server, settings);
    session->peer.notify = session_on_peer_notify;
    list_init(&session->calls);
    list_init(&session->batches);
    list_init(&session->questions);
}

void session_conclude(struct session *session)
{
    mcp_peer_conclude(&session->peer);
}

/* Without a sink what ends is not told to anybody. */
static void forget_all(struct session *session)
{
    session->sink = NULL;
    LIST_FOR_EACH (&session->calls, link) {
        CONTAINER_OF(link, struct call, link)->sink = NULL;
    }
}

void session_deinit(struct session *session)
{
    forget_all(session);
    LIST_FOR_EACH_SAFE (&session->calls, link) {
        struct call *call = CONTAINER_OF(link, struct call, link);

        mcp_request_cancel(&call->request);
        session_call_free(call);
    }
    LIST_FOR_EACH_SAFE (&session->batches, link) {
        batch_free(CONTAINER_OF(link, struct batch, link));
    }
    mcp_peer_deinit(&session->peer);
}

bool session_is_idle(const struct session *session)
{
    return list_is_empty(&session->calls) && list_is_empty(&session->batches);
}

void session_set_slow(struct session *session, bool slow)
{
    mcp_peer_set_slow(&session->peer, slow);
}
