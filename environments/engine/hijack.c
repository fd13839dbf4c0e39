#include "environments/engine/hijack.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/state.h"
#include "environments/engine/engine_error.h"

#include <assert.h>
#include <string.h>

#define REFUSAL_SECONDS 2.0

enum {
    READ_BYTES = 32 * 1024,
    READS_AT_ONCE = 8, /* then other watchers have their turn */
    OUTGOING_BYTES = 8 << 20,
    ANSWER_BYTES = RESPONSE_HEAD_BYTES + READ_BYTES, /* a head and the bytes read with it */
};

static const struct state hijack_states[] = {
    [HIJACK_CLOSED] = {"closed", 1 << HIJACK_CONNECTING},
    [HIJACK_CONNECTING] = {"connecting", 1 << HIJACK_WAITING | 1 << HIJACK_CLOSED},
    [HIJACK_WAITING] = {"waiting",
                        1 << HIJACK_REFUSED | 1 << HIJACK_STREAMING | 1 << HIJACK_CLOSED},
    [HIJACK_REFUSED] = {"refused", 1 << HIJACK_CLOSED},
    [HIJACK_STREAMING] = {"streaming", 1 << HIJACK_CLOSED},
};

static void hijack_set_state(struct hijack *hijack, enum hijack_state state)
{
    state_change(hijack_states, hijack->state, state, "hijack");
    hijack->state = state;
    if (state == HIJACK_REFUSED)
        ev_timer_start(engine_loop(hijack->engine), &hijack->bound);
}

/* The one way out but for cancelling. */
static void hijack_finish(struct hijack *hijack, const struct error *err)
{
    int status = hijack->state == HIJACK_REFUSED ? hijack->head.status : 0;

    hijack_cancel(hijack);
    hijack->ended(hijack, status, err);
}

static void hijack_fail(struct hijack *hijack, CURLcode code)
{
    struct error err = ERROR_INIT;

    engine_error_from_transfer(hijack->engine, &hijack->transfer, code, &err);
    hijack_finish(hijack, &err);
}

/* The engine has refused, and has said why. */
static void finish_refused(struct hijack *hijack)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    size_t length = buffer_length(&hijack->incoming);

    if (hijack->head.has_length && length > hijack->head.body_length)
        length = hijack->head.body_length;
    engine_error_from_status(hijack->head.status, buffer_bytes(&hijack->incoming), length, &err);
    hijack_finish(hijack, &err);
}

static void hijack_on_refusal_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    finish_refused(CONTAINER_OF(timer, struct hijack, bound));
}

/* The engine has ended the stream. */
static void hijack_on_end_of_stream(struct hijack *hijack)
{
    if (hijack->state == HIJACK_REFUSED)
        finish_refused(hijack);
    else if (hijack->state == HIJACK_STREAMING && frames_are_whole(&hijack->frames))
        hijack_finish(hijack, NULL);
    else
        hijack_fail(hijack, CURLE_RECV_ERROR);
}

static void hijack_on_frame(struct frames *frames, enum frame_stream stream, const char *data,
                            size_t length)
{
    struct hijack *hijack = CONTAINER_OF(frames, struct hijack, frames);

    hijack->output(hijack, stream, data, length);
}

static bool is_agreement(const struct response_head *head)
{
    return head->status == RESPONSE_STATUS_UPGRADED ||
           (head->status == RESPONSE_STATUS_OK && !head->has_length && !head->is_transformed);
}

/* The bytes behind the head are taken as the new state demands. */
static int hijack_take_head(struct hijack *hijack, struct error *err)
{
    int found = response_head_parse(buffer_bytes(&hijack->incoming),
                                    buffer_length(&hijack->incoming), &hijack->head, err);

    if (found <= 0)
        return found;
    buffer_consume(&hijack->incoming, hijack->head.length);
    if (is_agreement(&hijack->head)) {
        hijack_set_state(hijack, HIJACK_STREAMING);
        hijack->ready(hijack);
        return frames_feed(&hijack->frames, buffer_bytes(&hijack->incoming),
                           buffer_length(&hijack->incoming), err);
    }
    if (hijack->head.status < RESPONSE_STATUS_OK + 100)
        return error_set(err, ERROR_SYSTEM, "the Docker engine did not hand over the connection");
    hijack_set_state(hijack, HIJACK_REFUSED);
    return 0;
}

static int hijack_take(struct hijack *hijack, const char *data, size_t length, struct error *err)
{
    if (hijack->state == HIJACK_STREAMING)
        return frames_feed(&hijack->frames, data, length, err);
    if (buffer_append(&hijack->incoming, data, length, err) < 0)
        return error_prefix(err, "the Docker engine's answer");
    return hijack->state == HIJACK_WAITING ? hijack_take_head(hijack, err) : 0;
}

static bool is_refusal_complete(const struct hijack *hijack)
{
    return hijack->state == HIJACK_REFUSED &&
           (hijack->head.has_length ? buffer_length(&hijack->incoming) >= hijack->head.body_length
                                    : buffer_length(&hijack->incoming) >= READ_BYTES);
}

/* Reads once. True: there may be more. */
static bool read_once(struct hijack *hijack)
{
    char data[READ_BYTES];
    size_t length = 0;
    CURLcode code = curl_easy_recv(hijack->transfer.easy, data, sizeof data, &length);
    struct error err = ERROR_INIT;

    if (code == CURLE_AGAIN)
        return false;
    if (code != CURLE_OK)
        hijack_fail(hijack, code);
    else if (length == 0)
        hijack_on_end_of_stream(hijack);
    else if (hijack_take(hijack, data, length, &err) < 0)
        hijack_finish(hijack, &err);
    else if (is_refusal_complete(hijack))
        finish_refused(hijack);
    else
        return true;
    return false;
}

/* TLS may hold bytes that make no descriptor readable: reading ends when there is nothing more, or
 * goes on in the loop's next turn. */
static void hijack_read_some(struct hijack *hijack)
{
    for (int i = 0; i < READS_AT_ONCE; i++)
        if (!read_once(hijack))
            return;
    ev_timer_set(&hijack->more, 0., 0.);
    ev_timer_start(engine_loop(hijack->engine), &hijack->more);
}

static void hijack_on_more(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hijack_read_some(CONTAINER_OF(timer, struct hijack, more));
}

static void hijack_watch(struct hijack *hijack, int events)
{
    struct ev_loop *loop = engine_loop(hijack->engine);

    ev_io_stop(loop, &hijack->watcher);
    ev_io_set(&hijack->watcher, hijack->watcher.fd, events);
    ev_io_start(loop, &hijack->watcher);
}

/* False: the hijack is over. */
static bool write_some(struct hijack *hijack)
{
    while (buffer_length(&hijack->outgoing) > 0) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(hijack->transfer.easy, buffer_bytes(&hijack->outgoing),
                                       buffer_length(&hijack->outgoing), &sent);

        if (code == CURLE_AGAIN)
            return true;
        if (code != CURLE_OK) {
            hijack_fail(hijack, code);
            return false;
        }
        buffer_consume(&hijack->outgoing, sent);
    }
    hijack_watch(hijack, EV_READ);
    return true;
}

static void hijack_on_readiness(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct hijack *hijack = CONTAINER_OF(watcher, struct hijack, watcher);

    (void)loop;
    if (events & EV_ERROR) {
        hijack_fail(hijack, CURLE_RECV_ERROR);
        return;
    }
    if (events & EV_WRITE && !write_some(hijack))
        return;
    if (events & EV_READ)
        hijack_read_some(hijack);
}

static void hijack_on_connected(struct transfer *transfer, CURLcode code)
{
    struct hijack *hijack = CONTAINER_OF(transfer, struct hijack, transfer);
    curl_socket_t fd = CURL_SOCKET_BAD;

    if (code == CURLE_OK)
        code = curl_easy_getinfo(transfer->easy, CURLINFO_ACTIVESOCKET, &fd);
    if (code != CURLE_OK || fd == CURL_SOCKET_BAD) {
        hijack_fail(hijack, code == CURLE_OK ? CURLE_SEND_ERROR : code);
        return;
    }
    hijack_set_state(hijack, HIJACK_WAITING);
    ev_io_set(&hijack->watcher, fd, EV_WRITE);
    hijack_watch(hijack, EV_WRITE);
    (void)write_some(hijack);
}

/* A request of our own definitions is far from the limit. */
static void write_request(struct hijack *hijack, const struct engine_question *question)
{
    AUTO_FREE char *body = question->body ? json_text(question->body) : NULL;
    struct error ignored = ERROR_INIT;

    (void)buffer_append_format(&hijack->outgoing, &ignored,
                               "%s %s%s HTTP/1.1\r\n"
                               "Host: localhost\r\n"
                               "Connection: Upgrade\r\n"
                               "Upgrade: tcp\r\n"
                               "%s"
                               "Content-Length: %zu\r\n"
                               "\r\n"
                               "%s",
                               question->method, engine_prefix(hijack->engine), question->path,
                               body ? "Content-Type: application/json\r\n" : "",
                               body ? strlen(body) : 0, body ? body : "");
}

void hijack_start(struct hijack *hijack, struct engine *engine,
                  const struct engine_question *question)
{
    hijack->engine = engine;
    hijack_set_state(hijack, HIJACK_CONNECTING);
    hijack->head = (struct response_head){0};
    hijack->frames = (struct frames){.output = hijack_on_frame};
    buffer_init(&hijack->outgoing, OUTGOING_BYTES);
    buffer_init(&hijack->incoming, ANSWER_BYTES);
    write_request(hijack, question);
    ev_init(&hijack->watcher, hijack_on_readiness);
    ev_init(&hijack->more, hijack_on_more);
    ev_timer_init(&hijack->bound, hijack_on_refusal_bound, REFUSAL_SECONDS, 0.);
    hijack->transfer = (struct transfer){
        .easy = engine_easy(engine, question->path),
        .over = hijack_on_connected,
    };
    curl_easy_setopt(hijack->transfer.easy, CURLOPT_CONNECT_ONLY, 1L);
    transfer_start(engine_transfers(engine), &hijack->transfer);
}

int hijack_send(struct hijack *hijack, const char *data, size_t length, struct error *err)
{
    assert(hijack->state == HIJACK_STREAMING);
    if (buffer_append(&hijack->outgoing, data, length, err) < 0)
        return error_prefix(err, "what is sent to the container");
    hijack_watch(hijack, EV_READ | EV_WRITE);
    return 0;
}

bool hijack_is_open(const struct hijack *hijack)
{
    return hijack->state != HIJACK_CLOSED;
}

void hijack_cancel(struct hijack *hijack)
{
    struct ev_loop *loop;

    if (!hijack_is_open(hijack))
        return;
    hijack_set_state(hijack, HIJACK_CLOSED);
    loop = engine_loop(hijack->engine);
    ev_io_stop(loop, &hijack->watcher); /* before its descriptor is closed */
    ev_timer_stop(loop, &hijack->more);
    ev_timer_stop(loop, &hijack->bound);
    transfer_end(&hijack->transfer);
    buffer_deinit(&hijack->outgoing);
    buffer_deinit(&hijack->incoming);
}
