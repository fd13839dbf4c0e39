#include "server/transport/http/http_forward.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/curl/transfer.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/protocol/message.h"
#include "base/state.h"
#include "server/jsonrpc/incoming.h"
#include "server/transport/http/http_answer.h"
#include "server/transport/http/http_cors.h"
#include "server/transport/http/http_gate.h"

#include <stdlib.h>
#include <string.h>

enum {
    FORWARD_ANSWER_BYTES = 64 * 1024 * 1024, /* of an answer, or of one event */
    FORWARD_SEAL_REFUSED = 401,
};

enum http_forward_state {
    HTTP_FORWARD_ASKED,  /* nothing was passed on yet */
    HTTP_FORWARD_STREAM, /* events are */
    HTTP_FORWARD_OVER,
};

static const struct state http_forward_states[] = {
    [HTTP_FORWARD_ASKED] = {"asked", 1 << HTTP_FORWARD_STREAM | 1 << HTTP_FORWARD_OVER},
    [HTTP_FORWARD_STREAM] = {"stream", 1 << HTTP_FORWARD_OVER},
    [HTTP_FORWARD_OVER] = {"over", 0},
};

struct http_forward {
    enum http_forward_state state;
    struct http_forward_settings settings;
    struct transfer transfer;
    struct curl_slist *fields; /* owned */
    struct buffer received;    /* and not passed on */
    size_t searched;           /* bytes of it without the end of an event */
    unsigned sent;             /* how often: from then on the other replica may have begun */
    bool is_congested;         /* the client does not take its events */
};

static void http_forward_set_state(struct http_forward *forward, enum http_forward_state state)
{
    state_change(http_forward_states, forward->state, state, "request to replica %s",
                 forward->settings.replica->name);
    forward->state = state;
}

/* The end */

static void http_forward_end(struct http_forward *forward, enum http_forward_end end)
{
    http_forward_set_state(forward, HTTP_FORWARD_OVER);
    forward->settings.over(forward->settings.data, end);
}

/* The log is told when a replica is not reached any more, and when it is again. */
static void http_forward_note(const struct http_forward *forward, const char *problem)
{
    struct replica *replica = forward->settings.replica;

    if (problem && !replica->is_lost)
        log_warning("replica %s cannot be reached: %s", replica->name, problem);
    else if (!problem && replica->is_lost)
        log_info("replica %s is reached again", replica->name);
    replica->is_lost = problem != NULL;
}

/* The answer to the request in the body, an error with MESSAGE; NULL: it is none that is answered.
 * Owned by the caller. */
static char *http_forward_error(const struct http_forward *forward, const char *message)
{
    struct http_exchange *exchange = forward->settings.exchange;
    struct incoming incoming;
    struct error err = ERROR_INIT;
    AUTO_FREE char *id = NULL;

    if (!http_gate_has_method(exchange, "POST"))
        return NULL;
    incoming_init(&incoming, exchange->body, exchange->body_length);
    id = message_id_text(json_object_get(incoming.value, "id"),
                         scan_find(&incoming.scan, 0, SCAN_ID));
    if (incoming.kind != INCOMING_REQUEST && incoming.kind != INCOMING_MODERN)
        free(STEAL_PTR(id));
    incoming_deinit(&incoming);
    if (!id)
        return NULL;
    error_set(&err, ERROR_UNAVAILABLE, "%s", message);
    return message_error(id, &err, NULL);
}

/* The request was sent, and there will be no answer, or no more of it. PROBLEM says why. */
static void http_forward_fail(struct http_forward *forward, const char *problem)
{
    struct http_exchange *exchange = forward->settings.exchange;
    AUTO_FREE char *message = memory_format("replica %s, which has what this request names, %s",
                                            forward->settings.replica->name, problem);
    AUTO_FREE char *text = http_forward_error(forward, message);

    log_warning("%s", message);
    if (forward->state == HTTP_FORWARD_STREAM) {
        if (text)
            (void)http_stream_send(exchange, NULL, "message", text, strlen(text));
        http_stream_end(exchange);
    } else if (text) {
        http_cors_respond(forward->settings.names, exchange, 200, "", text, strlen(text));
    } else {
        http_cors_refuse(forward->settings.names, exchange, 502, "", HTTP_CODE_BAD_REQUEST,
                         "Bad Gateway: the replica that has this session has not answered");
    }
    http_forward_end(forward, HTTP_FORWARD_ANSWERED);
}

static void http_forward_lose(struct http_forward *forward, const char *reason)
{
    AUTO_FREE char *problem =
        memory_format("has not answered: %s. Nobody knows how far it came", reason);

    http_forward_fail(forward, problem);
}

/* The answer */

static unsigned http_forward_status(const struct http_forward *forward)
{
    long status = 0;

    curl_easy_getinfo(forward->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    return (unsigned)status;
}

static bool http_forward_type_is(const struct http_forward *forward, const char *type)
{
    char *value = NULL;

    curl_easy_getinfo(forward->transfer.easy, CURLINFO_CONTENT_TYPE, &value);
    return value && http_type_is(value, type);
}

/* libcurl's callback. */
static size_t http_forward_on_bytes(char *bytes, size_t size, size_t count, void *data)
{
    struct http_forward *forward = data;
    struct error err = ERROR_INIT;

    if (forward->is_congested)
        return CURL_WRITEFUNC_PAUSE;
    transfer_mark(&forward->transfer);
    return buffer_append(&forward->received, bytes, size * count, &err) < 0 ? 0 : size * count;
}

/* libcurl's callback. Begins a stream at its head, since its first event may come late. */
static size_t http_forward_on_head(char *bytes, size_t size, size_t count, void *data)
{
    struct http_forward *forward = data;

    (void)bytes;
    transfer_mark(&forward->transfer);
    return size * count;
}

/* libcurl's callback: the request is sent next; again, where a kept connection turns out to be
 * lost. */
static int http_forward_on_sending(void *data, char *to, char *from, int to_port, int from_port)
{
    struct http_forward *forward = data;

    (void)to;
    (void)from;
    (void)to_port;
    (void)from_port;
    forward->sent++;
    return CURL_PREREQFUNC_OK;
}

/* Bytes of the events that have come whole. */
static size_t http_forward_measure_events(struct http_forward *forward)
{
    const char *bytes = buffer_bytes(&forward->received);
    const size_t all = buffer_length(&forward->received);
    const size_t least = forward->searched < 2 ? 2 : forward->searched + 1;
    size_t length = all;

    while (length >= least && (bytes[length - 1] != '\n' || bytes[length - 2] != '\n'))
        length--;
    if (length < least)
        length = 0;
    forward->searched = all - length;
    return length;
}

static void http_forward_begin_stream(struct http_forward *forward)
{
    struct http_exchange *exchange = forward->settings.exchange;
    AUTO_FREE char *fields = http_cors_add(forward->settings.names, exchange, "");

    http_forward_set_state(forward, HTTP_FORWARD_STREAM);
    http_stream_begin(exchange, fields);
}

static void http_forward_on_progress(struct transfer *transfer)
{
    struct http_forward *forward = CONTAINER_OF(transfer, struct http_forward, transfer);
    size_t length;

    if (http_forward_status(forward) != 200 || !http_forward_type_is(forward, "text/event-stream"))
        return;
    if (forward->state == HTTP_FORWARD_ASKED)
        http_forward_begin_stream(forward);
    length = http_forward_measure_events(forward);
    if (length == 0)
        return;
    forward->is_congested =
        !http_stream_pass(forward->settings.exchange, buffer_bytes(&forward->received), length);
    buffer_consume(&forward->received, length);
}

void http_forward_drained(struct http_forward *forward)
{
    forward->is_congested = false;
    curl_easy_pause(forward->transfer.easy, CURLPAUSE_CONT);
}

/* A request that was repeated when its connection was lost may have been executed before, with the
 * same seal. */
static void http_forward_on_refused(struct http_forward *forward)
{
    if (forward->sent > 1)
        http_forward_lose(forward, "its connection was lost");
    else
        http_forward_fail(forward, "does not believe this server; the log there says why. The "
                                   "request was not executed");
}

/* True for the answers that a pyexecd gives: JSON or nothing, and no redirection. */
static bool http_forward_is_answer(const struct http_forward *forward, unsigned status)
{
    const bool is_known = (status >= 200 && status < 300) || (status >= 400 && status < 600);

    return is_known && (buffer_length(&forward->received) == 0 ||
                        http_forward_type_is(forward, "application/json"));
}

/* The whole answer has come. */
static void http_forward_pass_answer(struct http_forward *forward)
{
    const unsigned status = http_forward_status(forward);

    if (status == FORWARD_SEAL_REFUSED) {
        http_forward_on_refused(forward);
    } else if (!http_forward_is_answer(forward, status)) {
        http_forward_lose(forward, "what it says is no answer of pyexecd; is it one?");
    } else {
        http_cors_respond(forward->settings.names, forward->settings.exchange, status, "",
                          buffer_bytes(&forward->received), buffer_length(&forward->received));
        http_forward_end(forward, HTTP_FORWARD_ANSWERED);
    }
}

static void http_forward_finish_stream(struct http_forward *forward)
{
    http_stream_end(forward->settings.exchange);
    http_forward_end(forward, HTTP_FORWARD_ANSWERED);
}

static void http_forward_on_over(struct transfer *transfer, CURLcode code)
{
    struct http_forward *forward = CONTAINER_OF(transfer, struct http_forward, transfer);
    const char *reason = transfer->failure[0] ? transfer->failure : curl_easy_strerror(code);

    http_forward_note(forward, code == CURLE_OK || forward->sent ? NULL : reason);
    if (code != CURLE_OK && forward->sent == 0)
        http_forward_end(forward, HTTP_FORWARD_UNREACHED);
    else if (code != CURLE_OK)
        http_forward_lose(forward, reason);
    else if (forward->state == HTTP_FORWARD_STREAM)
        http_forward_finish_stream(forward);
    else
        http_forward_pass_answer(forward);
}

/* The request */

/* To libcurl, a field without a value ends in a semicolon, and one that only names it is left
 * out. */
static void http_forward_add_field(struct http_forward *forward, const char *name,
                                   const char *value)
{
    AUTO_FREE char *line =
        *value ? memory_format("%s: %s", name, value) : memory_format("%s;", name);

    forward->fields = curl_slist_append(forward->fields, line);
}

/* Fields that libcurl would add itself belong to no request that was sealed. */
static void http_forward_add_fields(struct http_forward *forward)
{
    static const char *const unwanted[] = {"Accept", "Content-Type", "Expect"};
    const struct http_forward_settings *settings = &forward->settings;
    const struct http_head *head = &settings->exchange->head;
    AUTO_FREE char *seal = replicas_seal(settings->replicas, settings->replica, settings->exchange,
                                         settings->principal);

    for (unsigned i = 0; i < head->field_count; i++)
        if (replicas_forward_field(head->fields[i].name))
            http_forward_add_field(forward, head->fields[i].name, head->fields[i].value);
    for (size_t i = 0; i < ARRAY_SIZE(unwanted); i++) {
        AUTO_FREE char *line = memory_format("%s:", unwanted[i]);

        if (!http_head_find(head, unwanted[i], NULL) || strcmp(unwanted[i], "Expect") == 0)
            forward->fields = curl_slist_append(forward->fields, line);
    }
    http_forward_add_field(forward, REPLICAS_FIELD, seal);
}

static void http_forward_set_body(const struct http_forward *forward, CURL *easy)
{
    const struct http_exchange *exchange = forward->settings.exchange;

    if (http_gate_has_method(exchange, "POST")) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)exchange->body_length);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, exchange->body_length ? exchange->body : "");
    } else {
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange->head.method);
    }
}

static CURL *http_forward_open(struct http_forward *forward)
{
    CURL *easy = replicas_connect(forward->settings.replica);

    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, forward->fields);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, http_forward_on_sending);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, forward);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, http_forward_on_head);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, forward);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_forward_on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, forward);
    http_forward_set_body(forward, easy);
    return easy;
}

struct http_forward *http_forward_start(const struct http_forward_settings *settings)
{
    struct http_forward *forward = NEW(struct http_forward);

    forward->settings = *settings;
    buffer_init(&forward->received, FORWARD_ANSWER_BYTES);
    http_forward_add_fields(forward);
    forward->transfer = (struct transfer){
        .easy = http_forward_open(forward),
        .progress = http_forward_on_progress,
        .over = http_forward_on_over,
    };
    transfer_start(settings->replicas->transfers, &forward->transfer);
    return forward;
}

void http_forward_free(struct http_forward *forward)
{
    if (!forward)
        return;
    transfer_end(&forward->transfer);
    curl_slist_free_all(forward->fields);
    buffer_deinit(&forward->received);
    free(forward);
}
