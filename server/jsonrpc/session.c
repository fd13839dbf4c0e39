#include "server/jsonrpc/session.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/jsonrpc/batch.h"
#include "server/jsonrpc/message.h"

#include <stdlib.h>
#include <string.h>

/* A request from its arrival to its answer. */
struct call {
    struct list link;        /* in the session */
    struct session *session; /* borrowed: the owner */
    struct batch *batch;     /* borrowed: where the answer goes; NULL: to the sink */
    char *id;                /* JSON text; owned */
    json_t *message;         /* owned: method and params are in it */
    size_t bytes;            /* what it counts for in the session's held_bytes */
    struct mcp_request request;
};

/* A message on its way in. Everything is borrowed. */
struct incoming {
    json_t *value;
    const struct scan *scan;
    size_t element; /* position in the batch, 0 without one */
    struct batch *batch;
    size_t bytes;
};

/* Out */

/* A response; nothing in it is owned. */
struct answer {
    const char *id; /* JSON text, or NULL */
    const char *text;
    int number; /* of the error in it, or 0 */
};

static void send_answer(struct session *session, struct batch *batch, const struct answer *answer)
{
    if (batch)
        batch_add(batch, answer->id, answer->text);
    else
        session->sink->send(session->sink, answer->text, strlen(answer->text), true,
                            answer->number);
}

/* Answers a message that does not become a call. */
static void refuse(struct session *session, struct batch *batch, const char *id,
                   const struct error *err)
{
    AUTO_FREE char *text = message_error(id, err, NULL);
    struct answer answer = {.id = id, .text = text, .number = message_error_number(err)};

    send_answer(session, batch, &answer);
}

/* One member of BATCH is done. The whole answer goes out with the last. */
static void close_member(struct session *session, struct batch *batch)
{
    if (!batch || !batch_close_member(batch))
        return;
    if (buffer_length(&batch->text))
        session->sink->send(session->sink, buffer_bytes(&batch->text), buffer_length(&batch->text),
                            true, 0);
    batch_free(batch);
    session->batch_count--;
}

/* Calls */

static void call_free(struct call *call)
{
    call->session->call_count--;
    call->session->held_bytes -= call->bytes;
    list_remove(&call->link);
    mcp_request_deinit(&call->request);
    json_decref(call->message);
    free(call->id);
    free(call);
}

/* The one way out of a call that is answered: with RESULT, or with ERR. */
static void call_finish(struct call *call, json_t *result /* taken */, const struct error *err)
{
    AUTO_FREE char *text = err ? message_error(call->id, err, call->request.error_data)
                               : message_result(call->id, result);
    struct answer answer = {
        .id = call->id, .text = text, .number = err ? message_error_number(err) : 0};
    struct session *session = call->session;
    struct batch *batch = call->batch;

    /* A large result is there as a tree and as text: the tree goes before the text is copied. */
    json_decref(result);
    mcp_request_deinit(&call->request);
    send_answer(session, batch, &answer);
    call_free(call);
    close_member(session, batch);
}

/* The way out of one that is not. */
static void call_cancel(struct call *call)
{
    struct session *session = call->session;
    struct batch *batch = call->batch;

    mcp_request_cancel(&call->request);
    call_free(call);
    close_member(session, batch);
}

static void on_notify(struct mcp_request *request, const char *method, json_t *params)
{
    struct call *call = CONTAINER_OF(request, struct call, request);
    AUTO_FREE char *text = message_notification(method, params);
    struct sink *sink = call->session->sink;

    json_decref(params);
    sink->send(sink, text, strlen(text), false, 0);
}

static void on_done(struct mcp_request *request, json_t *result, const struct error *err)
{
    call_finish(CONTAINER_OF(request, struct call, request), result, err);
}

static struct call *call_new(struct session *session, const struct incoming *incoming,
                             struct message *message)
{
    struct call *call = NEW(struct call);

    call->session = session;
    call->batch = incoming->batch;
    call->id = STEAL_PTR(message->id);
    call->message = json_incref(incoming->value);
    call->bytes = incoming->bytes;
    call->request = (struct mcp_request){
        .peer = &session->peer,
        .method = message->method,
        .params = message->params,
        .in_batch = incoming->batch != NULL,
        .notify = on_notify,
        .done = on_done,
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

static int check_room(const struct session *session, const struct incoming *incoming,
                      const char *id, struct error *err)
{
    if (call_find(session, id))
        return error_set(err, ERROR_INVALID_REQUEST, "a request with this id is in flight");
    if (session->call_count >= SESSION_CALLS)
        return error_set(err, ERROR_BUSY, "%d requests wait for their answers; try again later",
                         SESSION_CALLS);
    if (session->held_bytes + incoming->bytes > SESSION_HELD_BYTES)
        return error_set(err, ERROR_BUSY,
                         "requests of %d bytes wait for their answers; try again later",
                         SESSION_HELD_BYTES);
    return 0;
}

static void call_start(struct call *call)
{
    AUTO_JSON json_t *result = NULL;
    struct error err = ERROR_INIT;

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
static struct call *on_request(struct session *session, const struct incoming *incoming,
                               struct message *message)
{
    struct error err = ERROR_INIT;

    if (check_room(session, incoming, message->id, &err) == 0)
        return call_new(session, incoming, message);
    refuse(session, incoming->batch, message->id, &err);
    return NULL;
}

/* Others than this one change nothing here. A call that is not found has been answered already. */
static void on_notification(struct session *session, const struct incoming *incoming,
                            const struct message *message)
{
    AUTO_FREE char *id = NULL;
    struct call *call;

    if (!message->method || strcmp(message->method, "notifications/cancelled") != 0)
        return;
    id = message_id_text(json_object_get(message->params, "requestId"),
                         scan_find(incoming->scan, incoming->element, SCAN_REQUEST_ID));
    call = id ? call_find(session, id) : NULL;
    if (call)
        call_cancel(call);
}

/* Responses are dropped: this server asks its clients nothing. */
static void on_message(struct session *session, const struct incoming *incoming)
{
    struct message message;
    struct error err = ERROR_INIT;
    struct call *call = NULL;

    if (message_read(&message, incoming->value, incoming->scan, incoming->element, &err) < 0)
        refuse(session, incoming->batch, message.id, &err);
    else if (message.kind == MESSAGE_REQUEST)
        call = on_request(session, incoming, &message);
    else if (message.kind == MESSAGE_NOTIFICATION)
        on_notification(session, incoming, &message);
    message_deinit(&message);
    if (call)
        call_start(call);
    else
        close_member(session, incoming->batch);
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

static void on_batch(struct session *session, const struct incoming *whole)
{
    size_t size = json_array_size(whole->value);
    struct error err = ERROR_INIT;
    struct batch *batch;

    if (check_batch(session, whole->value, &err) < 0) {
        refuse(session, NULL, NULL, &err);
        return;
    }
    batch = batch_new(size);
    list_append(&session->batches, &batch->link);
    session->batch_count++;
    for (size_t i = 0; i < size; i++) {
        struct incoming incoming = {
            .value = json_array_get(whole->value, i),
            .scan = whole->scan,
            .element = i,
            .batch = batch,
            .bytes = whole->bytes / size,
        };

        on_message(session, &incoming); /* the last one may free the batch */
    }
}

void session_receive(struct session *session, char *text, size_t length)
{
    AUTO(scan_deinit) struct scan scan = {0};
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *value = message_parse(text, length, &scan, &err);
    struct incoming incoming = {.value = value, .scan = &scan, .bytes = length};

    if (!value)
        refuse(session, NULL, NULL, &err);
    else if (json_is_array(value))
        on_batch(session, &incoming);
    else
        on_message(session, &incoming);
}

void session_refuse_line(struct session *session, size_t limit)
{
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_INVALID_REQUEST, "message is longer than %zu bytes", limit);
    refuse(session, NULL, NULL, &err);
}

/* The session itself */

void session_init(struct session *session, struct mcp_server *server, const char *principal,
                  struct sink *sink)
{
    *session = (struct session){.sink = sink};
    mcp_peer_init(&session->peer, server, principal);
    list_init(&session->calls);
    list_init(&session->batches);
}

void session_deinit(struct session *session)
{
    LIST_FOR_EACH_SAFE (&session->calls, link) {
        struct call *call = CONTAINER_OF(link, struct call, link);

        mcp_request_cancel(&call->request);
        call_free(call);
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
    session->peer.slow = slow;
}
