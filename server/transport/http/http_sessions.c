#include "server/transport/http/http_sessions.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT_BYTES = 16 * 1024 * 1024, /* of complete answers, for all clients */
    KEPT_STREAMS = 1024,
    KEPT_SHARE = 4, /* one principal has a fourth part of both */
};

#define HTTP_SESSIONS_KEPT_SECONDS 300.0
#define TICK_SECONDS               15.0 /* at most, between two looks for old objects */

static struct http_session *session_of(struct list *link)
{
    return CONTAINER_OF(link, struct http_session, link);
}

/* Complete answers */

static void http_sessions_forget(struct http_sessions *sessions, struct event_stream *stream)
{
    if (list_is_empty(&stream->kept_link))
        return;
    list_remove(&stream->kept_link);
    sessions->kept_bytes -= stream->log.bytes;
    sessions->kept_count--;
}

static struct event_stream *longest_kept(struct http_sessions *sessions)
{
    return CONTAINER_OF(sessions->kept.next, struct event_stream, kept_link);
}

void http_sessions_drop(struct http_sessions *sessions, struct event_stream *stream)
{
    http_sessions_forget(sessions, stream);
    list_remove(&stream->link);
    list_append(&sessions->over, &stream->link);
}

static void http_sessions_give_up(struct http_sessions *sessions, struct event_stream *stream)
{
    event_stream_close(stream);
    http_sessions_drop(sessions, stream);
}

/* The kept answers of one principal, or of all. */
struct http_sessions_share {
    size_t bytes;
    unsigned count;
    struct event_stream *longest; /* complete for longest; NULL: none is */
};

static struct http_sessions_share http_sessions_share_of(const struct http_sessions *sessions,
                                                         const char *principal)
{
    struct http_sessions_share share = {0};

    LIST_FOR_EACH (&sessions->kept, link) {
        struct event_stream *stream = CONTAINER_OF(link, struct event_stream, kept_link);

        if (strcmp(http_session_of_stream(stream)->principal, principal) != 0)
            continue;
        share.bytes += stream->log.bytes;
        share.count++;
        if (!share.longest)
            share.longest = stream;
    }
    return share;
}

/* Gives up the longest kept of SHARE if that is too much, NEWEST aside: one answer is kept however
 * large it is. */
static bool http_sessions_shrink(struct http_sessions *sessions,
                                 const struct http_sessions_share *share, unsigned part,
                                 const struct event_stream *newest)
{
    if (share->count <= KEPT_STREAMS / part &&
        (share->bytes <= KEPT_BYTES / part || share->longest == newest))
        return false;
    http_sessions_give_up(sessions, share->longest);
    return true;
}

void http_sessions_keep(struct http_sessions *sessions, struct event_stream *stream)
{
    const char *principal = http_session_of_stream(stream)->principal;
    struct http_sessions_share share;

    if (!list_is_empty(&stream->kept_link))
        return;
    stream->kept_since = clock_seconds();
    list_append(&sessions->kept, &stream->kept_link);
    sessions->kept_bytes += stream->log.bytes;
    sessions->kept_count++;
    do
        share = http_sessions_share_of(sessions, principal);
    while (http_sessions_shrink(sessions, &share, KEPT_SHARE, stream));
    do
        share = (struct http_sessions_share){sessions->kept_bytes, sessions->kept_count,
                                             longest_kept(sessions)};
    while (http_sessions_shrink(sessions, &share, 1, stream));
}

static void free_over(struct http_sessions *sessions)
{
    LIST_FOR_EACH_SAFE (&sessions->over, link) {
        struct event_stream *stream = CONTAINER_OF(link, struct event_stream, link);

        event_stream_deinit(stream);
        free(stream);
    }
}

static void http_sessions_on_settle(struct ev_loop *loop, struct ev_prepare *watcher, int events)
{
    (void)loop;
    (void)events;
    free_over(CONTAINER_OF(watcher, struct http_sessions, settle));
}

/* One session more or less */

static void http_sessions_touch(struct http_sessions *sessions, struct http_session *session)
{
    session->touched = clock_seconds();
    list_remove(&session->link);
    list_append(&sessions->all, &session->link);
}

void http_sessions_close(struct http_session *session)
{
    struct http_sessions *sessions = session->owner;

    LIST_FOR_EACH (&session->streams, link) {
        http_sessions_forget(sessions, CONTAINER_OF(link, struct event_stream, link));
    }
    sessions->count--;
    http_session_free(session);
}

typedef bool (*http_sessions_relation)(const struct holder *holder, const struct holder *other);

/* The number of sessions whose holder IS related to HOLDER. */
static unsigned http_sessions_count(const struct http_sessions *sessions,
                                    const struct holder *holder, http_sessions_relation is)
{
    unsigned count = 0;

    LIST_FOR_EACH (&sessions->all, link) {
        count += is(&session_of(link)->holder, holder);
    }
    return count;
}

/* The session that is idle for longest among the sessions whose holder IS related to HOLDER, or
 * NULL. */
static struct http_session *http_sessions_find_idle(const struct http_sessions *sessions,
                                                    const struct holder *holder,
                                                    http_sessions_relation is)
{
    LIST_FOR_EACH (&sessions->all, link) {
        struct http_session *session = session_of(link);

        if (is(&session->holder, holder) && !http_session_is_busy(session))
            return session;
    }
    return NULL;
}

/* The same among the sessions whose holders have at least COUNT sessions. */
static struct http_session *http_sessions_find_richer(const struct http_sessions *sessions,
                                                      unsigned count)
{
    LIST_FOR_EACH (&sessions->all, link) {
        struct http_session *session = session_of(link);

        if (!http_session_is_busy(session) &&
            http_sessions_count(sessions, &session->holder, holder_is) >= count)
            return session;
    }
    return NULL;
}

/* False when there is no place for one more of HOLDER. */
static bool http_sessions_make_room(struct http_sessions *sessions, const struct holder *holder)
{
    unsigned own = http_sessions_count(sessions, holder, holder_is);
    struct http_session *victim;

    if (own >= (sessions->most + 1) / 2)
        victim = http_sessions_find_idle(sessions, holder, holder_is);
    else if (http_sessions_count(sessions, holder, holder_is_kin) >= (3 * sessions->most + 3) / 4)
        victim = http_sessions_find_idle(sessions, holder, holder_is_kin);
    else if (sessions->count < sessions->most)
        return true;
    else
        victim = http_sessions_find_richer(sessions, own);
    if (victim)
        http_sessions_close(victim);
    return victim != NULL;
}

/* Time */

static void http_sessions_on_tick(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct http_sessions *sessions = CONTAINER_OF(timer, struct http_sessions, tick);
    double now = clock_seconds();

    (void)loop;
    (void)events;
    while (!list_is_empty(&sessions->kept) &&
           now - longest_kept(sessions)->kept_since > HTTP_SESSIONS_KEPT_SECONDS)
        http_sessions_give_up(sessions, longest_kept(sessions));
    while (!list_is_empty(&sessions->all)) {
        struct http_session *oldest = session_of(sessions->all.next);

        if (now - oldest->touched < sessions->idle_seconds)
            break;
        if (http_session_is_busy(oldest))
            http_sessions_touch(sessions, oldest);
        else
            http_sessions_close(oldest);
    }
}

/* All of them */

static struct list *bucket_of(struct http_sessions *sessions, const char *id)
{
    unsigned hash = 0;

    for (size_t i = 0; i < HTTP_SESSION_DIGITS && id[i]; i++)
        hash = hash * 31 + (unsigned char)id[i];
    return &sessions->buckets[hash % HTTP_SESSIONS_BUCKETS];
}

struct http_session *http_sessions_open(struct http_sessions *sessions, const char *principal,
                                        const struct holder *holder)
{
    struct http_session *session;

    if (!http_sessions_make_room(sessions, holder))
        return NULL;
    session = http_session_new(sessions, principal, holder);
    sessions->count++;
    list_append(bucket_of(sessions, session->id), &session->bucket_link);
    http_sessions_touch(sessions, session);
    return session;
}

struct http_session *http_sessions_find(struct http_sessions *sessions, const char *id,
                                        const char *principal)
{
    LIST_FOR_EACH (bucket_of(sessions, id), link) {
        struct http_session *session = CONTAINER_OF(link, struct http_session, bucket_link);

        if (strcmp(session->principal, principal) == 0 && strcmp(session->id, id) == 0) {
            http_sessions_touch(sessions, session);
            return session;
        }
    }
    return NULL;
}

void http_sessions_init(struct http_sessions *sessions)
{
    double tick = sessions->idle_seconds / 4;

    list_init(&sessions->all);
    list_init(&sessions->kept);
    list_init(&sessions->over);
    for (size_t i = 0; i < HTTP_SESSIONS_BUCKETS; i++)
        list_init(&sessions->buckets[i]);
    ev_prepare_init(&sessions->settle, http_sessions_on_settle);
    ev_prepare_start(sessions->loop, &sessions->settle);
    ev_timer_init(&sessions->tick, http_sessions_on_tick, 0,
                  tick < TICK_SECONDS ? tick : TICK_SECONDS);
    ev_timer_again(sessions->loop, &sessions->tick);
}

void http_sessions_end(struct http_sessions *sessions)
{
    LIST_FOR_EACH_SAFE (&sessions->all, link) {
        http_sessions_close(session_of(link));
    }
}

void http_sessions_deinit(struct http_sessions *sessions)
{
    http_sessions_end(sessions);
    free_over(sessions);
    ev_prepare_stop(sessions->loop, &sessions->settle);
    ev_timer_stop(sessions->loop, &sessions->tick);
}
