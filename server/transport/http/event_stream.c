#include "server/transport/http/event_stream.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/state.h"
#include "server/transport/http/http_cors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOG_BYTES = 64 * 1024,    /* of one stream, its newest event aside */
    RETRY_MILLISECONDS = 500, /* until a client whose connection was closed reconnects */
    ID_BYTES = 48,
};

/* An unanswered request becomes a stream after this time, so that its client hears of us and can
 * reconnect when the connection breaks. */
#define EVENT_STREAM_QUIET_SECONDS 15.0

static const struct state event_stream_states[] = {
    [EVENT_STREAM_QUIET] = {"quiet", 1 << EVENT_STREAM_OPEN | 1 << EVENT_STREAM_OVER},
    [EVENT_STREAM_OPEN] = {"open", 1 << EVENT_STREAM_COMPLETE | 1 << EVENT_STREAM_OVER},
    [EVENT_STREAM_COMPLETE] = {"complete", 1 << EVENT_STREAM_OVER},
    [EVENT_STREAM_OVER] = {"over", 0},
};

static struct event *event_of(struct list *link)
{
    return CONTAINER_OF(link, struct event, link);
}

static void event_log_drop_oldest(struct event_log *log)
{
    struct event *event = event_of(log->events.next);

    log->bytes -= event->length;
    list_remove(&event->link);
    free(event);
}

void event_log_init(struct event_log *log, size_t limit)
{
    *log = (struct event_log){.limit = limit};
    list_init(&log->events);
}

void event_log_deinit(struct event_log *log)
{
    while (!list_is_empty(&log->events))
        event_log_drop_oldest(log);
}

void event_log_append(struct event_log *log, const char *text, size_t length)
{
    struct event *event = memory_new(1, sizeof(*event) + length + 1);

    while (log->bytes > log->limit)
        event_log_drop_oldest(log);
    event->number = ++log->last;
    event->length = length;
    memcpy(event->text, text, length);
    log->bytes += length;
    list_append(&log->events, &event->link);
}

const struct event *event_log_next(const struct event_log *log, unsigned long number)
{
    const struct event *next = NULL;

    for (struct list *link = log->events.previous; link != &log->events; link = link->previous) {
        if (event_of(link)->number <= number)
            break;
        next = event_of(link);
    }
    return next;
}

static void event_stream_set_state(struct event_stream *stream, enum event_stream_state state)
{
    state_change(event_stream_states, stream->state, state, "event stream %lu", stream->number);
    stream->state = state;
}

static void format_id(const struct event_stream *stream, unsigned long event, char text[ID_BYTES])
{
    snprintf(text, ID_BYTES, "%lu:%lu", stream->number, event);
}

/* From 2025-11-25 on a connection can be closed before the client has received an event. */
static bool clients_come_back(const struct event_stream *stream)
{
    return stream->session->peer.negotiated >= MCP_2025_11_25;
}

/* Nobody is connected any more. The exchange is the caller's to complete. */
static struct http_exchange *event_stream_detach(struct event_stream *stream)
{
    struct http_exchange *exchange = stream->exchange;

    ev_timer_stop(stream->loop, &stream->quiet);
    stream->exchange = NULL;
    stream->congested = false;
    return exchange;
}

static void event_stream_attach(struct event_stream *stream, struct http_exchange *exchange)
{
    exchange->data = &stream->answer;
    stream->exchange = exchange;
}

/* Out */

static void event_stream_begin(struct event_stream *stream)
{
    AUTO_FREE char *fields = http_cors_add(stream->names, stream->exchange, "");

    ev_timer_stop(stream->loop, &stream->quiet);
    if (stream->state == EVENT_STREAM_QUIET)
        event_stream_set_state(stream, EVENT_STREAM_OPEN);
    http_stream_begin(stream->exchange, fields);
}

/* An event without data, only to give the client the id to come back with. */
static void send_first_id(struct event_stream *stream)
{
    char id[ID_BYTES];

    if (!clients_come_back(stream))
        return;
    format_id(stream, stream->sent, id);
    stream->congested = !http_stream_send_retry(stream->exchange, id, RETRY_MILLISECONDS);
}

static void event_stream_open(struct event_stream *stream)
{
    event_stream_begin(stream);
    send_first_id(stream);
}

static void end_response(struct event_stream *stream)
{
    http_stream_end(event_stream_detach(stream));
    if (stream->state >= EVENT_STREAM_COMPLETE)
        stream->ended(stream);
}

static void event_stream_send_event(struct event_stream *stream, const struct event *event)
{
    char id[ID_BYTES];

    format_id(stream, event->number, id);
    stream->sent = event->number;
    stream->congested =
        !http_stream_send(stream->exchange, id, "message", event->text, event->length);
}

static void event_stream_pump(struct event_stream *stream)
{
    while (stream->exchange && !stream->congested) {
        const struct event *event = event_log_next(&stream->log, stream->sent);

        if (event)
            event_stream_send_event(stream, event);
        else if (stream->state >= EVENT_STREAM_COMPLETE)
            end_response(stream);
        else
            break;
    }
    session_set_slow(stream->session, stream->congested);
}

static void event_stream_respond(struct event_stream *stream, const char *text, size_t length,
                                 enum error_code code)
{
    bool refused_batch = stream->is_batch && code != ERROR_NONE;
    const char *fields = stream->fields && code == ERROR_NONE ? stream->fields : "";

    event_stream_set_state(stream, EVENT_STREAM_OVER);
    if (stream->exchange)
        http_cors_respond(stream->names, event_stream_detach(stream), refused_batch ? 400 : 200,
                          fields, text, length);
    stream->ended(stream);
}

/* Events for a client that is away are kept, unless it has no id to reconnect with. */
static void event_stream_on_send(struct sink *sink, const char *text, size_t length, bool last,
                                 enum error_code code)
{
    struct event_stream *stream = CONTAINER_OF(sink, struct event_stream, sink);

    last = last && !stream->is_lasting;
    if (stream->state == EVENT_STREAM_QUIET && last) {
        event_stream_respond(stream, text, length, code);
        return;
    }
    if (stream->state == EVENT_STREAM_QUIET && !stream->exchange)
        return;
    if (stream->state == EVENT_STREAM_QUIET)
        event_stream_open(stream);
    event_log_append(&stream->log, text, length);
    if (last)
        event_stream_set_state(stream, EVENT_STREAM_COMPLETE);
    if (last && !stream->exchange)
        stream->ended(stream);
    event_stream_pump(stream);
}

/* The log of a client that is away or slow is left to messages that cannot wait. */
static bool event_stream_has_room(const struct sink *sink)
{
    const struct event_stream *stream = CONTAINER_OF(sink, const struct event_stream, sink);

    return stream->exchange && !stream->congested;
}

/* The call was cancelled. A stream ends without an answer; a plain response cannot, so its
 * connection is closed. */
static void event_stream_on_close(struct sink *sink)
{
    struct event_stream *stream = CONTAINER_OF(sink, struct event_stream, sink);
    bool streams = !sink->answers_only;

    if (stream->exchange && stream->state == EVENT_STREAM_QUIET && streams)
        event_stream_begin(stream);
    event_stream_set_state(stream, EVENT_STREAM_OVER);
    if (stream->exchange && streams)
        http_stream_end(event_stream_detach(stream));
    else if (stream->exchange)
        http_exchange_abort(event_stream_detach(stream));
    stream->ended(stream);
}

static void event_stream_on_release(struct sink *sink)
{
    struct event_stream *stream = CONTAINER_OF(sink, struct event_stream, sink);

    if (!stream->exchange || sink->answers_only || !clients_come_back(stream))
        return;
    if (stream->state == EVENT_STREAM_QUIET)
        event_stream_open(stream);
    end_response(stream);
}

/* The connection */

/* A client without an id cannot reconnect: the call continues, but cannot ask anything. */
static void event_stream_on_gone(struct http_answer *answer)
{
    struct event_stream *stream = CONTAINER_OF(answer, struct event_stream, answer);

    event_stream_detach(stream);
    if (stream->state == EVENT_STREAM_QUIET)
        stream->sink.answers_only = true;
    session_set_slow(stream->session, false);
    if (stream->state >= EVENT_STREAM_COMPLETE)
        stream->ended(stream);
}

static void event_stream_on_drained(struct http_answer *answer)
{
    struct event_stream *stream = CONTAINER_OF(answer, struct event_stream, answer);

    stream->congested = false;
    event_stream_pump(stream);
}

static void event_stream_on_quiet(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    event_stream_open(CONTAINER_OF(timer, struct event_stream, quiet));
}

/* The stream itself */

void event_stream_init(struct event_stream *stream)
{
    stream->sink = (struct sink){.send = event_stream_on_send,
                                 .has_room = event_stream_has_room,
                                 .close = event_stream_on_close,
                                 .release = event_stream_on_release};
    stream->answer =
        (struct http_answer){.gone = event_stream_on_gone, .drained = event_stream_on_drained};
    list_init(&stream->link);
    list_init(&stream->kept_link);
    event_log_init(&stream->log, LOG_BYTES);
    ev_timer_init(&stream->quiet, event_stream_on_quiet, EVENT_STREAM_QUIET_SECONDS, 0);
}

void event_stream_deinit(struct event_stream *stream)
{
    ev_timer_stop(stream->loop, &stream->quiet);
    list_remove(&stream->link);
    list_remove(&stream->kept_link);
    event_log_deinit(&stream->log);
}

void event_stream_answer(struct event_stream *stream, struct http_exchange *exchange, bool streams)
{
    stream->sink.answers_only = !streams;
    event_stream_attach(stream, exchange);
    if (streams)
        ev_timer_start(stream->loop, &stream->quiet);
}

void event_stream_resume(struct event_stream *stream, struct http_exchange *exchange,
                         unsigned long after)
{
    if (stream->exchange)
        http_stream_end(event_stream_detach(stream));
    event_stream_attach(stream, exchange);
    stream->sent = after;
    event_stream_open(stream);
    event_stream_pump(stream);
}

void event_stream_accept(struct event_stream *stream)
{
    http_cors_respond(stream->names, event_stream_detach(stream), 202, "", NULL, 0);
    event_stream_set_state(stream, EVENT_STREAM_OVER);
    stream->ended(stream);
}

void event_stream_close(struct event_stream *stream)
{
    if (stream->exchange && stream->state == EVENT_STREAM_QUIET)
        http_cors_refuse(stream->names, event_stream_detach(stream), 404, "", HTTP_CODE_NO_SESSION,
                         "Session not found: it has ended");
    else if (stream->exchange)
        http_stream_end(event_stream_detach(stream));
    event_stream_set_state(stream, EVENT_STREAM_OVER);
}
