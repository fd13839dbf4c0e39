#include "server/transport/http/http_call.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/state.h"
#include "server/transport/http/http_cors.h"
#include "server/transport/socket/peer.h"

#include <stdlib.h>

/* An unanswered call becomes a stream after this time; its comments keep the connection from
 * looking dead. */
#define HTTP_CALL_QUIET_SECONDS 15.0

enum http_call_state {
    HTTP_CALL_QUIET,  /* nothing was sent yet: the answer can still be a plain response */
    HTTP_CALL_STREAM, /* events are sent */
    HTTP_CALL_OVER,   /* the response is complete */
};

static const struct state http_call_states[] = {
    [HTTP_CALL_QUIET] = {"quiet", 1 << HTTP_CALL_STREAM | 1 << HTTP_CALL_OVER},
    [HTTP_CALL_STREAM] = {"stream", 1 << HTTP_CALL_OVER},
    [HTTP_CALL_OVER] = {"over", 0},
};

struct http_call {
    enum http_call_state state;
    struct list link;         /* in the owner */
    struct http_calls *owner; /* borrowed */
    struct session session;
    struct sink sink;
    struct http_answer answer;
    struct http_exchange *exchange; /* borrowed; NULL once OVER */
    struct ev_timer quiet;
};

static void http_call_set_state(struct http_call *call, enum http_call_state state)
{
    state_change(http_call_states, call->state, state, "http call");
    call->state = state;
    ev_timer_stop(call->owner->loop, &call->quiet);
}

/* The status of a plain response with an error of this kind in it. */
static unsigned http_call_status_of(enum error_code code)
{
    switch (code) {
    case ERROR_PARSE:
    case ERROR_INVALID_REQUEST:
    case ERROR_ENVELOPE:
    case ERROR_HEADER_MISMATCH:
    case ERROR_MISSING_CAPABILITY:
    case ERROR_UNSUPPORTED_VERSION:
        return 400;
    case ERROR_METHOD_NOT_FOUND:
        return 404;
    default:
        return 200;
    }
}

static void http_call_free(struct http_call *call)
{
    ev_timer_stop(call->owner->loop, &call->quiet);
    list_remove(&call->link);
    session_deinit(&call->session);
    free(call);
}

/* Ends the call. The caller completes the response of the exchange. */
static struct http_exchange *http_call_finish(struct http_call *call)
{
    http_call_set_state(call, HTTP_CALL_OVER);
    list_remove(&call->link);
    list_append(&call->owner->over, &call->link);
    return STEAL_PTR(call->exchange);
}

/* Out */

static void begin_stream(struct http_call *call)
{
    AUTO_FREE char *fields = http_cors_add(call->owner->names, call->exchange, "");

    http_call_set_state(call, HTTP_CALL_STREAM);
    http_stream_begin(call->exchange, fields);
}

static void http_call_send_event(struct http_call *call, const char *text, size_t length, bool last)
{
    if (call->state == HTTP_CALL_QUIET)
        begin_stream(call);
    if (!http_stream_send(call->exchange, NULL, "message", text, length))
        session_set_slow(&call->session, true);
    if (last)
        http_stream_end(http_call_finish(call));
}

static void http_call_on_send(struct sink *sink, const char *text, size_t length, bool last,
                              enum error_code code)
{
    struct http_call *call = CONTAINER_OF(sink, struct http_call, sink);

    if (last && call->state == HTTP_CALL_QUIET)
        http_cors_respond(call->owner->names, http_call_finish(call), http_call_status_of(code), "",
                          text, length);
    else
        http_call_send_event(call, text, length, last);
}

static bool http_call_has_room(const struct sink *sink)
{
    return !CONTAINER_OF(sink, const struct http_call, sink)->session.peer.slow;
}

static void http_call_on_close(struct sink *sink)
{
    http_exchange_abort(http_call_finish(CONTAINER_OF(sink, struct http_call, sink)));
}

/* The connection */

static void http_call_on_gone(struct http_answer *answer)
{
    http_call_free(CONTAINER_OF(answer, struct http_call, answer));
}

static void http_call_on_drained(struct http_answer *answer)
{
    session_set_slow(&CONTAINER_OF(answer, struct http_call, answer)->session, false);
}

static void http_call_on_quiet(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    begin_stream(CONTAINER_OF(timer, struct http_call, quiet));
}

/* Requests */

static struct http_call *http_call_new(struct http_calls *calls, struct http_exchange *exchange,
                                       const char *principal, bool streams)
{
    struct http_call *call = NEW(struct http_call);

    call->owner = calls;
    call->sink = (struct sink){.send = http_call_on_send,
                               .has_room = http_call_has_room,
                               .close = http_call_on_close,
                               .answers_only = !streams};
    call->answer = (struct http_answer){.gone = http_call_on_gone, .drained = http_call_on_drained};
    call->exchange = exchange;
    exchange->data = &call->answer;
    session_init(&call->session, calls->server,
                 &(struct mcp_peer_settings){.principal = principal,
                                             .anonymous = peer_is_anonymous(principal),
                                             .stateless = true},
                 NULL);
    ev_timer_init(&call->quiet, http_call_on_quiet, HTTP_CALL_QUIET_SECONDS, 0);
    list_append(&calls->active, &call->link);
    if (streams)
        ev_timer_start(calls->loop, &call->quiet);
    return call;
}

void http_call_start(struct http_calls *calls, struct incoming *incoming,
                     struct http_exchange *exchange, const char *principal,
                     const struct mcp_headers *headers, bool streams)
{
    struct http_call *call = http_call_new(calls, exchange, principal, streams);

    if (!session_take(&call->session, incoming, &call->sink, headers))
        http_cors_respond(calls->names, http_call_finish(call), 202, "", NULL, 0);
}

/* All of them */

static void http_call_free_all(struct list *calls)
{
    LIST_FOR_EACH_SAFE (calls, link) {
        http_call_free(CONTAINER_OF(link, struct http_call, link));
    }
}

static void http_call_on_settle(struct ev_loop *loop, struct ev_prepare *watcher, int events)
{
    (void)loop;
    (void)events;
    http_call_free_all(&CONTAINER_OF(watcher, struct http_calls, settle)->over);
}

void http_calls_init(struct http_calls *calls)
{
    list_init(&calls->active);
    list_init(&calls->over);
    ev_prepare_init(&calls->settle, http_call_on_settle);
    ev_prepare_start(calls->loop, &calls->settle);
}

void http_calls_conclude(struct http_calls *calls)
{
    LIST_FOR_EACH_SAFE (&calls->active, link) {
        session_conclude(&CONTAINER_OF(link, struct http_call, link)->session);
    }
}

void http_calls_deinit(struct http_calls *calls)
{
    LIST_FOR_EACH_SAFE (&calls->active, link) {
        http_exchange_abort(http_call_finish(CONTAINER_OF(link, struct http_call, link)));
    }
    http_call_free_all(&calls->over);
    ev_prepare_stop(calls->loop, &calls->settle);
}
