#include "environments/engine/engine_request.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/curl/transfer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/engine/engine_error.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATUS_REDIRECT = 300,
    STATUS_NOT_MODIFIED = 304,
    STREAM_BYTES = 256 * 1024, /* taken from libcurl before they are handed over */
};

struct engine_exchange {
    struct engine_request *request; /* borrowed */
    struct engine *engine;          /* borrowed */
    struct engine_waiter waiter;
    struct transfer transfer;   /* easy NULL: waiting for the version */
    struct curl_slist *headers; /* owned */
    struct buffer incoming;     /* the answer, or the bytes of a stream for the next `data` */
    bool paused;                /* `incoming` was full */
    bool *gone;                 /* set when the exchange is freed; NULL outside of `data` */
    struct error failure;       /* our own; told instead of libcurl's */

    /* Copies of the question. */
    char *method;
    char *path;
    char *body; /* or NULL */
    double timeout;
};

static int engine_request_status_of(const struct engine_exchange *exchange)
{
    long status = 0;

    curl_easy_getinfo(exchange->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static bool is_success(int status)
{
    return status < STATUS_REDIRECT || status == STATUS_NOT_MODIFIED;
}

static bool is_streamed(const struct engine_exchange *exchange)
{
    return exchange->request->data && is_success(engine_request_status_of(exchange));
}

/* libcurl's callback. */
static size_t engine_request_on_bytes(char *bytes, size_t size, size_t count, void *data)
{
    struct engine_exchange *exchange = data;
    size_t length = size * count;
    struct error err = ERROR_INIT;

    if (is_streamed(exchange)) {
        transfer_mark(&exchange->transfer);
        if (buffer_length(&exchange->incoming) + length > STREAM_BYTES) {
            exchange->paused = true;
            return CURL_WRITEFUNC_PAUSE;
        }
    }
    if (buffer_append(&exchange->incoming, bytes, length, &err) == 0)
        return length;
    error_set(&exchange->failure, ERROR_LIMIT, "the Docker engine's answer has %s", err.message);
    return 0;
}

/* libcurl's callback. */
static size_t engine_request_on_room(char *room, size_t size, size_t count, void *data)
{
    struct engine_exchange *exchange = data;
    ssize_t length =
        exchange->request->send(exchange->request, room, size * count, &exchange->failure);

    return length < 0 ? CURL_READFUNC_ABORT : (size_t)length;
}

/* Hands over the bytes of a stream that have come. */
static void engine_request_on_progress(struct transfer *transfer)
{
    struct engine_exchange *exchange = CONTAINER_OF(transfer, struct engine_exchange, transfer);
    struct buffer piece = exchange->incoming;
    bool paused = exchange->paused;
    bool gone = false; /* `data` may cancel the request */

    buffer_init(&exchange->incoming, piece.limit);
    exchange->paused = false;
    exchange->gone = &gone;
    if (buffer_length(&piece) > 0)
        exchange->request->data(exchange->request, buffer_bytes(&piece), buffer_length(&piece));
    buffer_deinit(&piece);
    if (gone)
        return;
    exchange->gone = NULL;
    if (paused)
        curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
}

static void exchange_free(struct engine_exchange *exchange)
{
    if (exchange->gone)
        *exchange->gone = true;
    list_remove(&exchange->waiter.link);
    transfer_end(&exchange->transfer);
    curl_slist_free_all(exchange->headers);
    buffer_deinit(&exchange->incoming);
    free(exchange->method);
    free(exchange->path);
    free(exchange->body);
    free(exchange);
}

static int engine_request_judge(struct engine_exchange *exchange, CURLcode code, int status,
                                struct error *err)
{
    if (exchange->failure.code != ERROR_NONE) {
        *err = exchange->failure;
        return -1;
    }
    if (code != CURLE_OK)
        return engine_error_from_transfer(exchange->engine, &exchange->transfer, code, err);
    if (!is_success(status))
        return engine_error_from_status(status, buffer_bytes(&exchange->incoming),
                                        buffer_length(&exchange->incoming), err);
    return 0;
}

/* The one way out but for cancelling. */
static void engine_request_finish(struct engine_exchange *exchange,
                                  const struct engine_answer *answer, const struct error *err)
{
    struct engine_request *request = exchange->request;

    request->exchange = NULL;
    request->done(request, answer, err);
    exchange_free(exchange);
}

static void engine_request_on_over(struct transfer *transfer, CURLcode code)
{
    struct engine_exchange *exchange = CONTAINER_OF(transfer, struct engine_exchange, transfer);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    struct engine_answer answer = {.status =
                                       code == CURLE_OK ? engine_request_status_of(exchange) : 0};
    bool failed = engine_request_judge(exchange, code, answer.status, &err) < 0;
    AUTO_JSON json_t *json = NULL;

    exchange->incoming.limit++;
    (void)buffer_append(&exchange->incoming, "", 1, &(struct error)ERROR_INIT);
    answer.bytes = buffer_bytes(&exchange->incoming);
    answer.length = buffer_length(&exchange->incoming) - 1;
    if (answer.length > 0)
        json = json_loadb(answer.bytes, answer.length, 0, NULL);
    answer.json = json;
    engine_request_finish(exchange, &answer, failed ? &err : NULL);
}

static void add_header(struct engine_exchange *exchange, const char *header)
{
    exchange->headers = curl_slist_append(exchange->headers, header);
}

static void set_body(struct engine_exchange *exchange, CURL *easy)
{
    if (exchange->request->send) {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, engine_request_on_room);
        curl_easy_setopt(easy, CURLOPT_READDATA, exchange);
        add_header(exchange, "Content-Type: application/x-tar");
        add_header(exchange, "Expect:"); /* engines do not refuse a body before it is sent */
    } else if (strcmp(exchange->method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE,
                         (long)(exchange->body ? strlen(exchange->body) : 0));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, text_or_none(exchange->body));
        add_header(exchange, exchange->body ? "Content-Type: application/json" : "Content-Type:");
        add_header(exchange, "Expect:");
    }
}

static void engine_request_begin(struct engine_exchange *exchange)
{
    CURL *easy = engine_easy(exchange->engine, exchange->path);

    exchange->transfer.easy = easy;
    exchange->transfer.progress = engine_request_on_progress;
    exchange->transfer.over = engine_request_on_over;
    set_body(exchange, easy);
    /* libcurl repeats a request when a connection that was used before ends without an answer. An
     * engine must not execute a POST twice, so a POST gets a new connection. */
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, strcmp(exchange->method, "POST") == 0 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange->method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, engine_request_on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)ceil(exchange->timeout * 1000));
    transfer_start(engine_transfers(exchange->engine), &exchange->transfer);
}

static void engine_request_on_ready(struct engine_waiter *waiter, const struct error *err)
{
    struct engine_exchange *exchange = CONTAINER_OF(waiter, struct engine_exchange, waiter);

    if (err)
        engine_request_finish(exchange, &(struct engine_answer){.bytes = ""}, err);
    else
        engine_request_begin(exchange);
}

void engine_request_start(struct engine_request *request, struct engine *engine,
                          const struct engine_question *question)
{
    struct engine_exchange *exchange = NEW(struct engine_exchange);
    size_t limit = question->limit ? question->limit : ENGINE_ANSWER_BYTES;

    assert(request->done && !request->exchange);
    exchange->request = request;
    exchange->engine = engine;
    exchange->waiter.ready = engine_request_on_ready;
    exchange->method = memory_copy_string(question->method);
    exchange->path = memory_copy_string(question->path);
    exchange->body = question->body ? json_text(question->body) : NULL;
    exchange->timeout = question->timeout;
    buffer_init(&exchange->incoming, request->data ? STREAM_BYTES : limit);
    request->exchange = exchange;
    if (engine_meet(engine, &exchange->waiter) == OUTCOME_READY)
        engine_request_begin(exchange);
}

void engine_request_cancel(struct engine_request *request)
{
    if (!request->exchange)
        return;
    exchange_free(request->exchange);
    request->exchange = NULL;
}

char *engine_escape(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/:@,";
    char *escaped = memory_new(strlen(text) + 1, 3);
    char *end = escaped;

    for (; *text; text++)
        if (strchr(plain, *text))
            *end++ = *text;
        else
            end += snprintf(end, 4, "%%%02X", (unsigned)(unsigned char)*text);
    return escaped;
}
