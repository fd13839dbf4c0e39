#include "server/transport/http/http_session.h"

#include "base/handle.h"
#include "base/memory.h"
#include "server/transport/http/http_cors.h"
#include "server/transport/http/http_sessions.h"
#include "server/transport/socket/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBER_DIGITS = 18, /* of streams and events in the ids that clients send back */
    LABEL_BYTES = 32,
};

/* Streams */

static struct event_stream *stream_of(struct list *link)
{
    return CONTAINER_OF(link, struct event_stream, link);
}

struct http_session *http_session_of_stream(const struct event_stream *stream)
{
    return CONTAINER_OF(stream->session, struct http_session, session);
}

static void http_session_on_stream_ended(struct event_stream *stream)
{
    struct http_session *session = http_session_of_stream(stream);

    if (stream->state == EVENT_STREAM_COMPLETE)
        http_sessions_keep(session->owner, stream);
    else
        http_sessions_drop(session->owner, stream);
}

static void init_stream(struct http_session *session, struct event_stream *stream)
{
    *stream = (struct event_stream){
        .loop = session->owner->loop,
        .names = session->owner->names,
        .session = &session->session,
        .number = session->last_stream++,
        .ended = http_session_on_stream_ended,
    };
    event_stream_init(stream);
}

static void end_stream(struct event_stream *stream)
{
    event_stream_close(stream);
    event_stream_deinit(stream);
}

/* Requests */

void http_session_take(struct http_session *session, struct incoming *incoming,
                       struct http_exchange *exchange, const struct mcp_headers *headers,
                       bool streams)
{
    struct event_stream *stream = NEW(struct event_stream);

    init_stream(session, stream);
    stream->is_batch = incoming->kind == INCOMING_BATCH;
    if (incoming->kind == INCOMING_INITIALIZE)
        stream->fields = session->fields;
    list_append(&session->streams, &stream->link);
    event_stream_answer(stream, exchange, streams);
    if (!session_take(&session->session, incoming, &stream->sink, headers))
        event_stream_accept(stream);
}

/* Both halves of "STREAM:EVENT"; false for anything else. */
static bool parse_event_id(const char *text, unsigned long *ret_stream, unsigned long *ret_event)
{
    size_t first = strspn(text, "0123456789");
    size_t second = text[first] == ':' ? strspn(text + first + 1, "0123456789") : 0;

    if (first == 0 || first > NUMBER_DIGITS || second == 0 || second > NUMBER_DIGITS ||
        text[first + 1 + second] != '\0')
        return false;
    *ret_stream = strtoul(text, NULL, 10);
    *ret_event = strtoul(text + first + 1, NULL, 10);
    return true;
}

/* The stream that has sent the event NUMBER, or could have. */
static struct event_stream *find_stream(struct http_session *session, unsigned long number)
{
    if (number == session->general.number)
        return &session->general;
    LIST_FOR_EACH (&session->streams, link) {
        if (stream_of(link)->number == number)
            return stream_of(link);
    }
    return NULL;
}

static void http_session_resume(struct http_session *session, struct http_exchange *exchange,
                                const char *last_event)
{
    unsigned long number = 0;
    unsigned long event = 0;
    struct event_stream *stream =
        parse_event_id(last_event, &number, &event) ? find_stream(session, number) : NULL;

    if (stream && stream->state != EVENT_STREAM_QUIET && event <= stream->log.last)
        event_stream_resume(stream, exchange, event);
    else
        http_cors_refuse(session->owner->names, exchange, 400, "", HTTP_CODE_BAD_REQUEST,
                         "Bad Request: Last-Event-ID names no event that can be continued from");
}

void http_session_listen(struct http_session *session, struct http_exchange *exchange,
                         const char *last_event)
{
    struct event_stream *general = &session->general;

    if (last_event)
        http_session_resume(session, exchange, last_event);
    else if (general->exchange)
        http_cors_refuse(session->owner->names, exchange, 409, "", HTTP_CODE_BAD_REQUEST,
                         "Conflict: only one stream of a session can be open");
    else
        event_stream_resume(general, exchange, general->sent);
}

/* The session itself */

struct http_session *http_session_new(struct http_sessions *owner, const char *principal,
                                      const struct holder *holder)
{
    struct http_session *session = NEW(struct http_session);
    char label[LABEL_BYTES];

    session->owner = owner;
    session->id = handle_new(owner->replica, HTTP_SESSION_DIGITS);
    session->fields = memory_format("Mcp-Session-Id: %s\r\n", session->id);
    session->principal = memory_copy_string(principal);
    session->holder = *holder;
    list_init(&session->link);
    list_init(&session->bucket_link);
    list_init(&session->streams);
    init_stream(session, &session->general);
    session->general.is_lasting = true;
    snprintf(label, sizeof label, "session-%lu", ++owner->last_number);
    session_init(&session->session, owner->server,
                 &(struct mcp_peer_settings){.principal = principal,
                                             .label = label,
                                             .anonymous = peer_is_anonymous(principal),
                                             .lasting = true},
                 &session->general.sink);
    return session;
}

void http_session_free(struct http_session *session)
{
    session_deinit(&session->session);
    LIST_FOR_EACH_SAFE (&session->streams, link) {
        end_stream(stream_of(link));
        free(stream_of(link));
    }
    end_stream(&session->general);
    list_remove(&session->link);
    list_remove(&session->bucket_link);
    free(session->principal);
    free(session->fields);
    free(session->id);
    free(session);
}

bool http_session_is_open(const struct http_session *session)
{
    return session->session.peer.negotiated != MCP_VERSION_NONE;
}

bool http_session_is_busy(const struct http_session *session)
{
    if (session->general.exchange || !session_is_idle(&session->session))
        return true;
    LIST_FOR_EACH (&session->streams, link) {
        if (stream_of(link)->exchange)
            return true;
    }
    return false;
}
