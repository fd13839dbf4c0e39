#include "server/jsonrpc/session.h"

#include "base/json.h"
#include "base/protocol/message.h"
#include "server/jsonrpc/batch.h"
#include "server/jsonrpc/call.h"

#include <string.h>

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

/* The call that a request becomes, or NULL when it has been refused. */
static struct call *session_on_request(struct session *session, const struct arrival *arrival,
                                       struct message *message)
{
    struct error err = ERROR_INIT;

    if (session_check_room(session, arrival, message->id, &err) == 0)
        return call_new(session, arrival, message);
    sink_refuse(arrival->sink, arrival->batch, message->id, &err);
    return NULL;
}

/* Only the cancellation has an effect here. A call that is not found has been answered already. */
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

/* True when MESSAGE is to be answered. *RET is the call that it becomes. */
static bool session_dispatch(struct session *session, const struct arrival *arrival,
                             struct message *message, struct call **ret)
{
    switch (message->kind) {
    case MESSAGE_REQUEST:
        *ret = session_on_request(session, arrival, message);
        return true;
    case MESSAGE_NOTIFICATION:
        session_on_notification(session, arrival, message);
        break;
    case MESSAGE_RESPONSE:
        call_take_response(session, arrival->value);
        break;
    }
    return false;
}

/* True when it is to be answered. */
static bool session_on_message(struct session *session, const struct arrival *arrival)
{
    struct message message;
    struct error err = ERROR_INIT;
    struct call *call = NULL;
    bool is_owed = true;

    if (message_read(&message, arrival->value, arrival->scan, arrival->element, &err) < 0)
        sink_refuse(arrival->sink, arrival->batch, message.id, &err);
    else
        is_owed = session_dispatch(session, arrival, &message, &call);
    message_deinit(&message);
    if (arrival->batch)
        arrival->batch->is_owed |= is_owed;
    if (call)
        call_start(call);
    else
        call_close_member(session, arrival->batch);
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
        sink_refuse(whole->sink, NULL, NULL, &err);
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
        sink_refuse(sink, NULL, incoming->id, &incoming->fault);
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
    sink_refuse(session->sink, NULL, NULL, &err);
}

/* The session itself */

static void session_on_peer_notify(struct mcp_peer *peer, const char *method, json_t *params)
{
    sink_notify(CONTAINER_OF(peer, struct session, peer)->sink, method, params);
}

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

/* Takes the sinks away, so that nothing is sent when the calls end. */
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
    mcp_peer_set_slow(&session->peer, slow);
}
