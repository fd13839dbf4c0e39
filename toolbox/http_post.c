/* A request of HTTP to a server, and its response, which may come in several streams. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/protocol/header_value.h"
#include "base/state.h"
#include "toolbox/http_link_private.h"
#include "toolbox/server_settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_POST_RETRY_SECONDS      1.0 /* where the server does not say; the least for news */
#define HTTP_POST_RETRY_MOST_SECONDS 30.0

enum {
    HTTP_POST_CONNECT_SECONDS = 10,
    HTTP_POST_LEAVE_SECONDS = 2,
    HTTP_POST_NOTE_SECONDS = 10, /* for a message without an answer */
    HTTP_POST_RESUMPTIONS = 8,   /* without an event */
    HTTP_POST_SUCCESS = 200,
    HTTP_POST_REDIRECTION = 300,
    HTTP_POST_ERROR = 400,
    HTTP_POST_FAULT = 500, /* of the server */
};

static const struct state http_post_states[] = {
    [HTTP_POST_SENT] = {"sent", 1 << HTTP_POST_PAUSED | 1 << HTTP_POST_OVER},
    [HTTP_POST_PAUSED] = {"paused", 1 << HTTP_POST_SENT | 1 << HTTP_POST_OVER},
    [HTTP_POST_OVER] = {"over", 0},
};

static void http_post_send(struct http_post *post);

static void http_post_set_state(struct http_post *post, enum http_post_state state)
{
    state_change(http_post_states, post->state, state, "request %u to %s", post->id,
                 post->owner->settings->name);
    post->state = state;
}

static int http_post_status(const struct http_post *post)
{
    long status = 0;

    curl_easy_getinfo(post->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static bool http_post_is_stream(const struct http_post *post)
{
    static const char stream[] = "text/event-stream";
    char *type = NULL;

    curl_easy_getinfo(post->transfer.easy, CURLINFO_CONTENT_TYPE, &type);
    return http_post_status(post) == HTTP_POST_SUCCESS && type &&
           strncasecmp(type, stream, strlen(stream)) == 0;
}

void http_post_end(struct http_post *post)
{
    if (post->state == HTTP_POST_OVER)
        return;
    http_post_set_state(post, HTTP_POST_OVER);
    post->events.is_over = true;
    if (post->transfer.easy)
        transfer_end(&post->transfer);
    ev_timer_stop(post->owner->loop, &post->pause);
    ev_timer_start(post->owner->loop, &post->owner->reaping);
}

void http_post_free(struct http_post *post)
{
    list_remove(&post->link);
    if (post->transfer.easy)
        transfer_end(&post->transfer);
    ev_timer_stop(post->owner->loop, &post->pause);
    curl_slist_free_all(post->fields);
    curl_slist_free_all(post->sent);
    buffer_deinit(&post->incoming);
    event_reader_deinit(&post->events);
    free(post->text);
    free(post);
}

static void http_post_fail(struct http_post *post, struct error *err, bool was_refused)
{
    if (post->state == HTTP_POST_OVER)
        return;
    http_post_end(post);
    post->owner->lose(post->owner, post, err, was_refused);
}

/* Receiving */

/* libcurl's callback. */
static size_t http_post_on_bytes(char *bytes, size_t size, size_t count, void *data)
{
    struct http_post *post = data;
    const size_t length = size * count;
    struct error err = ERROR_INIT;

    transfer_mark(&post->transfer);
    if (buffer_append(&post->incoming, bytes, length, &err) == 0)
        return length;
    post->is_full = true;
    return http_post_is_stream(post) ? CURL_WRITEFUNC_PAUSE : 0;
}

static void http_post_on_event(struct event_reader *reader, const char *type, char *data,
                               size_t length)
{
    struct http_post *post = CONTAINER_OF(reader, struct http_post, events);

    if (strcmp(type, "message") != 0 || length == 0)
        return;
    post->resumptions = 0;
    post->owner->take(post->owner, post, data, length);
}

static void http_post_read_session(struct http_post *post)
{
    struct http_link *link = post->owner;
    struct curl_header *field;

    if (link->session || link->version != MCP_VERSION_NONE ||
        curl_easy_header(post->transfer.easy, "Mcp-Session-Id", 0, CURLH_HEADER, -1, &field) !=
            CURLHE_OK ||
        strlen(field->value) > HTTP_LINK_SESSION_BYTES)
        return;
    link->session = memory_copy_string(field->value);
}

/* Bytes of a stream are read as they come. */
static void http_post_on_progress(struct transfer *transfer)
{
    struct http_post *post = CONTAINER_OF(transfer, struct http_post, transfer);
    struct error err = ERROR_INIT;

    http_post_read_session(post);
    if (!http_post_is_stream(post))
        return;
    if (buffer_length(&post->incoming) > 0 &&
        event_reader_feed(&post->events, buffer_bytes(&post->incoming),
                          buffer_length(&post->incoming), &err) < 0) {
        http_post_fail(post, &err, false);
        return;
    }
    if (post->state != HTTP_POST_SENT)
        return;
    buffer_consume(&post->incoming, buffer_length(&post->incoming));
    if (post->is_full)
        curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
    post->is_full = false;
}

/* The end of a response */

static void http_post_explain_status(const struct http_post *post, int status, struct error *err)
{
    if (status >= HTTP_POST_REDIRECTION && status < HTTP_POST_ERROR)
        error_set(err, ERROR_UNAVAILABLE,
                  "it answers with a redirection (%d), which is not followed: name the final URL",
                  status);
    else if (status == 401 || status == 403)
        error_set(err, ERROR_UNAVAILABLE, "it refuses what `headers` prove (%d)", status);
    else if (status == HTTP_LINK_STATUS_SESSION && post->owner->session)
        error_set(err, ERROR_UNAVAILABLE, "its session has ended");
    else
        error_set(err, status < HTTP_POST_FAULT ? ERROR_INVALID_REQUEST : ERROR_UNAVAILABLE,
                  "it answers with status %d and no result", status);
}

/* The body may be an answer whatever the status is. */
static void http_post_take_body(struct http_post *post)
{
    struct error err = ERROR_INIT;
    const int status = http_post_status(post);
    const bool is_refused = status == HTTP_LINK_STATUS_SESSION && post->owner->session &&
                            post->kind == HTTP_POST_MESSAGE;

    if (buffer_length(&post->incoming) > 0 && !is_refused)
        post->owner->take(post->owner, post, buffer_bytes(&post->incoming),
                          buffer_length(&post->incoming));
    if (post->state == HTTP_POST_OVER)
        return;
    http_post_explain_status(post, status, &err);
    http_post_fail(post, &err, is_refused);
}

static void http_post_on_pause(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    http_post_send(CONTAINER_OF(timer, struct http_post, pause));
}

static void http_post_pause(struct http_post *post)
{
    double seconds = post->events.retry_seconds;

    if (seconds < 0)
        seconds = HTTP_POST_RETRY_SECONDS * (1 << post->resumptions);
    if (post->kind == HTTP_POST_LISTEN && seconds < HTTP_POST_RETRY_SECONDS)
        seconds = HTTP_POST_RETRY_SECONDS;
    post->resumptions++;
    http_post_set_state(post, HTTP_POST_PAUSED);
    transfer_end(&post->transfer);
    buffer_consume(&post->incoming, buffer_length(&post->incoming));
    event_reader_restart(&post->events);
    ev_timer_set(&post->pause,
                 seconds < HTTP_POST_RETRY_MOST_SECONDS ? seconds : HTTP_POST_RETRY_MOST_SECONDS,
                 0.);
    ev_timer_start(post->owner->loop, &post->pause);
}

/* Only a server that numbers its events can go on where the stream was cut off. */
static bool http_post_can_resume(const struct http_post *post)
{
    const bool is_old =
        post->owner->version != MCP_VERSION_NONE && !mcp_version_is_modern(post->owner->version);

    return is_old && post->resumptions < HTTP_POST_RESUMPTIONS &&
           (post->kind == HTTP_POST_LISTEN || (post->id > 0 && *post->events.id));
}

static void http_post_end_stream(struct http_post *post)
{
    struct error err = ERROR_INIT;

    if (http_post_can_resume(post)) {
        http_post_pause(post);
        return;
    }
    error_set(&err, ERROR_UNAVAILABLE, "its stream has ended without an answer");
    http_post_fail(post, &err, false);
}

/* Nothing was sent when no connection was made. */
static void http_post_break(struct http_post *post, CURLcode code)
{
    struct error err = ERROR_INIT;
    const char *reason =
        post->transfer.failure[0] ? post->transfer.failure : curl_easy_strerror(code);

    if (code == CURLE_WRITE_ERROR)
        error_set(&err, ERROR_LIMIT, "its answer has more than %d bytes", LINK_MESSAGE_BYTES);
    else
        error_set(&err, ERROR_UNAVAILABLE, "it cannot be reached: %s", reason);
    http_post_fail(post, &err, false);
}

static void http_post_on_over(struct transfer *transfer, CURLcode code)
{
    struct http_post *post = CONTAINER_OF(transfer, struct http_post, transfer);
    const bool is_stream = http_post_is_stream(post);

    http_post_read_session(post);
    if (post->has_answer || (post->kind == HTTP_POST_MESSAGE && post->id == 0 && code == CURLE_OK &&
                             http_post_status(post) < HTTP_POST_REDIRECTION))
        http_post_end(post);
    else if (is_stream && !post->is_full)
        http_post_end_stream(post);
    else if (code != CURLE_OK)
        http_post_break(post, code);
    else
        http_post_take_body(post);
}

/* Sending */

static void http_post_add_field(struct http_post *post, const char *name, const char *value)
{
    AUTO_FREE char *line = memory_format("%s: %s", name, value);

    post->fields = curl_slist_append(post->fields, line);
}

static void http_post_add_own_fields(struct http_post *post)
{
    const struct http_link *link = post->owner;

    for (char **line = link->settings->headers; *line; line++)
        post->fields = curl_slist_append(post->fields, *line);
    if (link->session)
        http_post_add_field(post, "Mcp-Session-Id", link->session);
    if (link->version >= MCP_2025_06_18)
        http_post_add_field(post, "MCP-Protocol-Version", mcp_version_name(link->version));
    if (post->kind == HTTP_POST_MESSAGE)
        http_post_add_field(post, "Accept", "application/json, text/event-stream");
    else
        http_post_add_field(post, "Accept", "text/event-stream");
    http_post_add_field(post, "Content-Type", "application/json");
    post->fields = curl_slist_append(post->fields, "Expect:");
}

/* The fields by which a modern request says what is in it. Before the revision is known, a request
 * is the question whether there is a modern one. */
static void http_post_add_message_fields(struct http_post *post, const struct outgoing *message)
{
    const enum mcp_version version = post->owner->version;
    const bool is_question = message->method && strcmp(message->method, "server/discover") == 0;
    const json_t *line;
    size_t i;

    if (!message->method || (!is_question && !mcp_version_is_modern(version)))
        return;
    if (is_question && version == MCP_VERSION_NONE)
        http_post_add_field(post, "MCP-Protocol-Version", mcp_version_name(MCP_2026_07_28));
    http_post_add_field(post, "Mcp-Method", message->method);
    if (message->tool) {
        AUTO_FREE char *name = header_value_encode(message->tool, strlen(message->tool));

        http_post_add_field(post, "Mcp-Name", name);
    }
    json_array_foreach (message->fields, i, line)
        post->fields = curl_slist_append(post->fields, json_string_value(line));
}

static void http_post_set_method(struct http_post *post, CURL *easy)
{
    if (post->kind == HTTP_POST_LEAVE) {
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
        curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)HTTP_POST_LEAVE_SECONDS);
    } else if (post->kind == HTTP_POST_MESSAGE && !*post->events.id) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(post->text));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post->text);
    }
    if (post->kind == HTTP_POST_MESSAGE && post->id == 0)
        curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)HTTP_POST_NOTE_SECONDS);
}

/* The fields of POST, and where its stream is to go on. */
static const struct curl_slist *http_post_list_fields(struct http_post *post)
{
    curl_slist_free_all(STEAL_PTR(post->sent));
    for (const struct curl_slist *field = post->fields; field; field = field->next)
        post->sent = curl_slist_append(post->sent, field->data);
    if (*post->events.id) {
        AUTO_FREE char *line = memory_format("Last-Event-ID: %s", post->events.id);

        post->sent = curl_slist_append(post->sent, line);
    }
    return post->sent;
}

/* libcurl repeats a request when a connection that was used before ends without an answer, and a
 * call must not be executed twice: a call gets a connection of its own. */
static void http_post_send(struct http_post *post)
{
    const struct http_link *link = post->owner;
    CURL *easy = curl_easy_init();

    if (post->state == HTTP_POST_PAUSED)
        http_post_set_state(post, HTTP_POST_SENT);
    http_post_set_method(post, easy);
    curl_easy_setopt(easy, CURLOPT_URL, link->settings->url);
    if (link->settings->socket)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, link->settings->socket);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)HTTP_POST_CONNECT_SECONDS);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, post->kind == HTTP_POST_MESSAGE ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http_post_list_fields(post));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_post_on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, post);
    post->transfer = (struct transfer){
        .easy = easy,
        .progress = http_post_on_progress,
        .over = http_post_on_over,
    };
    transfer_start(link->transfers, &post->transfer);
}

struct http_post *http_post_new(struct http_link *link, enum http_post_kind kind,
                                const struct outgoing *message)
{
    struct http_post *post = NEW(struct http_post);

    post->owner = link;
    post->kind = kind;
    if (message) {
        post->id = message->id;
        post->is_endless = message->is_endless;
        post->text = memory_copy_string(message->text);
    }
    list_append(&link->posts, &post->link);
    buffer_init(&post->incoming, LINK_MESSAGE_BYTES);
    event_reader_init(&post->events, LINK_MESSAGE_BYTES, http_post_on_event);
    ev_init(&post->pause, http_post_on_pause);
    http_post_add_own_fields(post);
    if (message)
        http_post_add_message_fields(post, message);
    http_post_send(post);
    return post;
}
