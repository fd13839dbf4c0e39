#include "toolbox/http_link.h"

#include "base/cleanup.h"
#include "base/curl/curl_library.h"
#include "base/memory.h"
#include "base/protocol/message.h"
#include "toolbox/http_link_private.h"
#include "toolbox/server_settings.h"

#include <stdlib.h>

enum {
    HTTP_LINK_ANSWERS = 8, /* to the server, under way at a time */
    HTTP_LINK_NOTES = 64,  /* with notifications: all calls may be cancelled together */
};

static void http_link_break(struct http_link *link, const struct error *err)
{
    if (link->is_broken || link->is_closed)
        return;
    link->is_broken = true;
    link->base.listener->broken(link->base.listener, err);
}

/* The session is lost for every request. */
static void http_link_lose(struct http_link *link, struct http_post *post, struct error *err,
                           bool was_refused)
{
    if (link->is_closed)
        return;
    secrets_hide_error(&link->settings->secrets, err);
    if (post->id > 0)
        link->base.listener->lost(link->base.listener, post->id, err, was_refused);
    if (was_refused)
        http_link_break(link, err);
}

static bool http_link_is_answer(const json_t *message, unsigned id)
{
    return id > 0 && !json_object_get(message, "method") &&
           json_integer_value(json_object_get(message, "id")) == id;
}

/* A refusal that was made before the message was read has no id, or an invented one. */
static void http_link_complete(const struct http_post *post, json_t *message)
{
    if (post->id > 0 && json_object_get(message, "error") && !json_object_get(message, "method") &&
        !json_is_integer(json_object_get(message, "id")))
        json_object_set_new(message, "id", json_integer(post->id));
}

static void http_link_pass(struct http_link *link, struct http_post *post, json_t *message)
{
    http_link_complete(post, message);
    secrets_hide(&link->settings->secrets, json_object_get(message, "error"));
    if (http_link_is_answer(message, post->id))
        post->has_answer = true;
    link->base.listener->message(link->base.listener, message);
    if (post->has_answer)
        http_post_end(post);
}

/* The revision 2025-03-26 has arrays of messages. */
static void http_link_take(struct http_link *link, struct http_post *post, char *text,
                           size_t length)
{
    struct scan scan = {0};
    struct error fault = ERROR_INIT;
    struct error err = ERROR_INIT;
    json_t *message = message_parse(text, length, &scan, &fault);
    json_t *part;
    size_t i;

    scan_deinit(&scan);
    if (!message && fault.code != ERROR_PARSE && post->id > 0) {
        link_explain_answer(&fault, &err);
        http_post_end(post);
        http_link_lose(link, post, &err, false);
    }
    if (json_is_object(message))
        http_link_pass(link, post, message);
    json_array_foreach (message, i, part)
        http_link_pass(link, post, part);
    json_decref(message);
}

/* Counts the messages under way that nobody waits for. */
static unsigned http_link_count_notes(const struct http_link *link)
{
    unsigned count = 0;

    LIST_FOR_EACH (&link->posts, entry) {
        const struct http_post *post = CONTAINER_OF(entry, struct http_post, link);

        count += post->kind == HTTP_POST_MESSAGE && post->id == 0 && post->state != HTTP_POST_OVER;
    }
    return count;
}

/* Each message has a connection: a server that asks for many answers, or takes none, gets no more.
 */
static int http_link_send(struct tool_link *base, const struct outgoing *message, struct error *err)
{
    struct http_link *link = CONTAINER_OF(base, struct http_link, base);
    const unsigned most = message->method ? HTTP_LINK_NOTES : HTTP_LINK_ANSWERS;

    if (link->is_broken)
        return error_set(err, ERROR_UNAVAILABLE, "its session has ended");
    if (message->id == 0 && http_link_count_notes(link) >= most)
        return error_set(err, ERROR_BUSY, "it does not take what was sent before");
    (void)http_post_new(link, HTTP_POST_MESSAGE, message);
    return 0;
}

static void http_link_forget(struct tool_link *base, unsigned id)
{
    const struct http_link *link = CONTAINER_OF(base, struct http_link, base);

    LIST_FOR_EACH (&link->posts, entry) {
        struct http_post *post = CONTAINER_OF(entry, struct http_post, link);

        if (post->id == id)
            http_post_end(post);
    }
}

static void http_link_settle(struct tool_link *base, enum mcp_version version, bool listen)
{
    struct http_link *link = CONTAINER_OF(base, struct http_link, base);

    link->version = version;
    if (mcp_version_is_modern(version))
        free(STEAL_PTR(link->session));
    else if (listen)
        (void)http_post_new(link, HTTP_POST_LISTEN, NULL);
}

static void http_link_free(struct http_link *link)
{
    LIST_FOR_EACH_SAFE (&link->posts, entry) {
        http_post_free(CONTAINER_OF(entry, struct http_post, link));
    }
    ev_timer_stop(link->loop, &link->reaping);
    free(link->session);
    free(link);
}

static void http_link_on_reaping(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct http_link *link = CONTAINER_OF(timer, struct http_link, reaping);
    struct link_listener *listener = link->base.listener;

    (void)loop;
    (void)events;
    LIST_FOR_EACH_SAFE (&link->posts, entry) {
        struct http_post *post = CONTAINER_OF(entry, struct http_post, link);

        if (post->state == HTTP_POST_OVER)
            http_post_free(post);
    }
    if (!link->is_closed || !list_is_empty(&link->posts))
        return;
    listener->gone(listener);
    http_link_free(link);
}

static void http_link_close(struct tool_link *base, bool at_once)
{
    struct http_link *link = CONTAINER_OF(base, struct http_link, base);

    link->is_closed = true;
    LIST_FOR_EACH (&link->posts, entry) {
        http_post_end(CONTAINER_OF(entry, struct http_post, link));
    }
    if (link->session && !link->is_broken && !at_once)
        (void)http_post_new(link, HTTP_POST_LEAVE, NULL);
    ev_timer_start(link->loop, &link->reaping);
}

static const struct link_ops http_link_ops = {
    .send = http_link_send,
    .forget = http_link_forget,
    .settle = http_link_settle,
    .close = http_link_close,
};

struct tool_link *http_link_open(struct ev_loop *loop, struct transfers *transfers,
                                 const struct server_settings *settings,
                                 struct link_listener *listener, struct error *err)
{
    struct http_link *link;

    if (curl_library_load(err) < 0)
        return NULL;
    link = NEW(struct http_link);
    link->base.ops = &http_link_ops;
    link->base.listener = listener;
    link->loop = loop;
    link->transfers = transfers;
    link->settings = settings;
    link->take = http_link_take;
    link->lose = http_link_lose;
    list_init(&link->posts);
    ev_timer_init(&link->reaping, http_link_on_reaping, 0., 0.);
    return &link->base;
}
