#include "toolbox/dialogue.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/protocol/message.h"
#include "base/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DIALOGUE_PATIENCE_SECONDS 120.0 /* a program may have to be installed first */
#define DIALOGUE_PREFIX           "io.modelcontextprotocol/"

enum {
    DIALOGUE_UNSUPPORTED_VERSION = -32022,
};

static const struct state dialogue_states[] = {
    [DIALOGUE_CLOSED] = {"closed", 1 << DIALOGUE_DISCOVERING | 1 << DIALOGUE_GREETING},
    [DIALOGUE_DISCOVERING] = {"discovering", 1 << DIALOGUE_GREETING | 1 << DIALOGUE_OPEN |
                                                 1 << DIALOGUE_BROKEN | 1 << DIALOGUE_CLOSING},
    [DIALOGUE_GREETING] = {"greeting", 1 << DIALOGUE_DISCOVERING | 1 << DIALOGUE_OPEN |
                                           1 << DIALOGUE_BROKEN | 1 << DIALOGUE_CLOSING},
    [DIALOGUE_OPEN] = {"open", 1 << DIALOGUE_BROKEN | 1 << DIALOGUE_CLOSING},
    [DIALOGUE_BROKEN] = {"broken", 1 << DIALOGUE_CLOSING},
    [DIALOGUE_CLOSING] = {"closing", 1 << DIALOGUE_CLOSED},
};

static void dialogue_set_state(struct dialogue *dialogue, enum dialogue_state state)
{
    state_change(dialogue_states, dialogue->state, state, "dialogue with %s", dialogue->name);
    dialogue->state = state;
}

static bool dialogue_is_modern(const struct dialogue *dialogue)
{
    return dialogue->state == DIALOGUE_DISCOVERING || mcp_version_is_modern(dialogue->revision);
}

/* Sending */

/* Every modern request describes its client. */
static void dialogue_describe(const struct dialogue *dialogue, json_t *meta)
{
    json_object_set_new(meta, DIALOGUE_PREFIX "protocolVersion",
                        json_string(mcp_version_name(MCP_2026_07_28)));
    json_object_set_new(meta, DIALOGUE_PREFIX "clientInfo",
                        json_pack("{s:s, s:s}", "name", "pyexecd", "version", dialogue->version));
    json_object_set_new(meta, DIALOGUE_PREFIX "clientCapabilities", json_object());
}

/* PARAMS with `_meta`. New reference. */
static json_t *dialogue_complete_params(const struct dialogue *dialogue,
                                        const struct dialogue_request *request, json_t *params)
{
    json_t *whole = params ? json_copy(params) : json_object();
    AUTO_JSON json_t *meta = json_object();

    if (request && request->progress)
        json_object_set_new(meta, "progressToken", json_integer(request->id));
    if (dialogue_is_modern(dialogue))
        dialogue_describe(dialogue, meta);
    if (json_object_size(meta) > 0)
        json_object_set(whole, "_meta", meta);
    return whole;
}

static int dialogue_send(struct dialogue *dialogue, struct dialogue_request *request,
                         const struct dialogue_question *question, struct error *err)
{
    AUTO_JSON json_t *params = NULL;
    AUTO_FREE char *text = NULL;

    request->id = ++dialogue->last_id;
    params = dialogue_complete_params(dialogue, request, question->params);
    text = message_request(request->id, question->method, params);
    list_append(&dialogue->requests, &request->link);
    if (dialogue->way->ops->send(dialogue->way,
                                 &(struct outgoing){
                                     .text = text,
                                     .id = request->id,
                                     .method = question->method,
                                     .tool = question->tool,
                                     .fields = question->fields,
                                     .is_endless = question->is_endless,
                                 },
                                 err) == 0)
        return 0;
    list_remove(&request->link);
    return -1;
}

int dialogue_ask(struct dialogue *dialogue, struct dialogue_request *request,
                 const struct dialogue_question *question, struct error *err)
{
    if (dialogue->state != DIALOGUE_OPEN)
        return error_set(err, ERROR_UNAVAILABLE, "it is not reached any more");
    return dialogue_send(dialogue, request, question, err);
}

/* A failure is ignored: the link is as good as broken then. */
static void dialogue_notify(struct dialogue *dialogue, const char *method, json_t *params)
{
    AUTO_JSON json_t *whole = dialogue_complete_params(dialogue, NULL, params);
    AUTO_FREE char *text = message_notification(method, whole);
    struct error err = ERROR_INIT;

    (void)dialogue->way->ops->send(dialogue->way,
                                   &(struct outgoing){.text = text, .method = method}, &err);
}

/* A modern server over HTTP is told by the end of the connection. */
void dialogue_drop(struct dialogue *dialogue, struct dialogue_request *request, const char *reason)
{
    AUTO_JSON json_t *params = NULL;

    if (!request->link.next || list_is_empty(&request->link))
        return;
    list_remove(&request->link);
    if (dialogue->state == DIALOGUE_BROKEN)
        return;
    params = json_pack("{s:I, s:s}", "requestId", (json_int_t)request->id, "reason", reason);
    if (dialogue->way->probe_seconds > 0 || !dialogue_is_modern(dialogue))
        dialogue_notify(dialogue, "notifications/cancelled", params);
    dialogue->way->ops->forget(dialogue->way, request->id);
}

/* The end of requests */

static void dialogue_fail_request(struct dialogue_request *request, const struct error *err,
                                  bool was_refused)
{
    list_remove(&request->link);
    request->done(request, NULL, err, 0, was_refused);
}

/* Requests that come meanwhile are not among them. */
static void dialogue_fail_all(struct dialogue *dialogue, const struct error *err)
{
    struct list failed;

    list_init(&failed);
    while (!list_is_empty(&dialogue->requests)) {
        struct list *link = dialogue->requests.next;

        list_remove(link);
        list_append(&failed, link);
    }
    while (!list_is_empty(&failed))
        dialogue_fail_request(CONTAINER_OF(failed.next, struct dialogue_request, link), err, false);
}

static void dialogue_break(struct dialogue *dialogue, const struct error *err)
{
    const bool was_open = dialogue->state == DIALOGUE_OPEN;

    ev_timer_stop(dialogue->loop, &dialogue->patience);
    dialogue_set_state(dialogue, DIALOGUE_BROKEN);
    if (was_open) {
        dialogue_fail_all(dialogue, err);
        dialogue->broken(dialogue, err);
        return;
    }
    list_remove(&dialogue->greeting.link);
    dialogue->opened(dialogue, err);
}

static bool dialogue_is_alive(const struct dialogue *dialogue)
{
    return dialogue->state == DIALOGUE_DISCOVERING || dialogue->state == DIALOGUE_GREETING ||
           dialogue->state == DIALOGUE_OPEN;
}

/* The handshake */

static void dialogue_greet(struct dialogue *dialogue);

static void dialogue_on_news_over(struct dialogue_request *request, json_t *result,
                                  const struct error *err, int code, bool was_refused)
{
    (void)request;
    (void)result;
    (void)err;
    (void)code;
    (void)was_refused;
}

/* Whether the server has news of its tools. */
static bool dialogue_has_news(const json_t *result)
{
    const json_t *capabilities = json_object_get(result, "capabilities");

    return json_is_true(json_object_get(json_object_get(capabilities, "tools"), "listChanged"));
}

static void dialogue_subscribe(struct dialogue *dialogue)
{
    AUTO_JSON json_t *params = json_pack("{s:{s:b}}", "notifications", "toolsListChanged", 1);
    struct error err = ERROR_INIT;

    dialogue->news.done = dialogue_on_news_over;
    (void)dialogue_send(dialogue, &dialogue->news,
                        &(struct dialogue_question){
                            .method = "subscriptions/listen", .params = params, .is_endless = true},
                        &err);
}

static void dialogue_agree(struct dialogue *dialogue, enum mcp_version revision,
                           const json_t *result)
{
    const bool has_news = dialogue_has_news(result);

    ev_timer_stop(dialogue->loop, &dialogue->patience);
    dialogue->revision = revision;
    dialogue->knows_revision = true;
    dialogue->way->ops->settle(dialogue->way, revision, has_news);
    dialogue_set_state(dialogue, DIALOGUE_OPEN);
    if (!mcp_version_is_modern(revision))
        dialogue_notify(dialogue, "notifications/initialized", NULL);
    else if (has_news)
        dialogue_subscribe(dialogue);
    dialogue->opened(dialogue, NULL);
}

static bool dialogue_lists_modern(const json_t *versions)
{
    const json_t *version;
    size_t i;

    json_array_foreach (versions, i, version)
        if (mcp_version_is_modern(mcp_version_of(version)))
            return true;
    return false;
}

/* Before the answer, which comes late from a program that is just being installed, an old server
 * may have been greeted. */
static void dialogue_on_discovered(struct dialogue_request *request, json_t *result,
                                   const struct error *err, int code, bool was_refused)
{
    struct dialogue *dialogue = CONTAINER_OF(request, struct dialogue, greeting);

    (void)was_refused;
    if (result && dialogue_lists_modern(json_object_get(result, "supportedVersions")))
        dialogue_agree(dialogue, MCP_2026_07_28, result);
    else if (result || code != 0 || err->code == ERROR_INVALID_REQUEST)
        dialogue_greet(dialogue);
    else
        dialogue_break(dialogue, err);
}

static void dialogue_refuse_revision(struct dialogue *dialogue, const json_t *result)
{
    const char *version = json_object_get_string(result, "protocolVersion");
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_UNAVAILABLE,
              "it speaks no revision of the protocol that is known here%s%.40s",
              version ? ": " : "", version ? version : "");
    dialogue_break(dialogue, &err);
}

static void dialogue_propose(struct dialogue *dialogue);

/* A server of the newest revision was slow, and taken for an old one. */
static void dialogue_discover_again(struct dialogue *dialogue)
{
    dialogue->was_silent = false;
    dialogue->is_slow = true;
    dialogue_set_state(dialogue, DIALOGUE_DISCOVERING);
    dialogue_propose(dialogue);
}

static void dialogue_on_greeted(struct dialogue_request *request, json_t *result,
                                const struct error *err, int code, bool was_refused)
{
    struct dialogue *dialogue = CONTAINER_OF(request, struct dialogue, greeting);
    const enum mcp_version revision = mcp_version_of(json_object_get(result, "protocolVersion"));

    (void)was_refused;
    if (code != 0 && dialogue->was_silent)
        dialogue_discover_again(dialogue);
    else if (!result)
        dialogue_break(dialogue, err);
    else if (revision == MCP_VERSION_NONE || mcp_version_is_modern(revision))
        dialogue_refuse_revision(dialogue, result);
    else
        dialogue_agree(dialogue, revision, result);
}

static void dialogue_begin(struct dialogue *dialogue, const struct dialogue_question *question,
                           double seconds)
{
    struct error err = ERROR_INIT;

    ev_timer_stop(dialogue->loop, &dialogue->patience);
    ev_timer_set(&dialogue->patience, seconds, 0.);
    if (dialogue_send(dialogue, &dialogue->greeting, question, &err) < 0) {
        error_copy(&dialogue->fault, &err);
        ev_timer_set(&dialogue->patience, 0., 0.);
    }
    ev_timer_start(dialogue->loop, &dialogue->patience);
}

static void dialogue_propose(struct dialogue *dialogue)
{
    const double probe = dialogue->is_slow ? 0 : dialogue->way->probe_seconds;

    dialogue->greeting.done = dialogue_on_discovered;
    dialogue_begin(dialogue, &(struct dialogue_question){.method = "server/discover"},
                   probe > 0 ? probe : DIALOGUE_PATIENCE_SECONDS);
}

static void dialogue_discover(struct dialogue *dialogue)
{
    dialogue_set_state(dialogue, DIALOGUE_DISCOVERING);
    dialogue->was_refused = false;
    dialogue->was_silent = false;
    dialogue->is_slow = false;
    dialogue_propose(dialogue);
}

static void dialogue_greet(struct dialogue *dialogue)
{
    AUTO_JSON json_t *params =
        json_pack("{s:s, s:{}, s:{s:s, s:s}}", "protocolVersion", mcp_version_name(MCP_2025_11_25),
                  "capabilities", "clientInfo", "name", "pyexecd", "version", dialogue->version);

    dialogue->revision = MCP_VERSION_NONE;
    dialogue_set_state(dialogue, DIALOGUE_GREETING);
    dialogue->greeting.done = dialogue_on_greeted;
    dialogue_begin(dialogue, &(struct dialogue_question){.method = "initialize", .params = params},
                   DIALOGUE_PATIENCE_SECONDS);
}

static void dialogue_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct dialogue *dialogue = CONTAINER_OF(timer, struct dialogue, patience);

    (void)loop;
    (void)events;
    if (dialogue->fault.code == ERROR_NONE && dialogue->state == DIALOGUE_DISCOVERING &&
        dialogue->way->probe_seconds > 0 && !dialogue->is_slow) {
        list_remove(&dialogue->greeting.link);
        dialogue->was_silent = true;
        dialogue_greet(dialogue);
        return;
    }
    if (dialogue->fault.code == ERROR_NONE)
        error_set(&dialogue->fault, ERROR_TIMEOUT, "it does not answer the first request");
    dialogue_break(dialogue, &dialogue->fault);
}

/* Receiving */

static struct dialogue_request *dialogue_find(const struct dialogue *dialogue, json_int_t id)
{
    LIST_FOR_EACH (&dialogue->requests, link) {
        struct dialogue_request *request = CONTAINER_OF(link, struct dialogue_request, link);

        if (id > 0 && request->id == id)
            return request;
    }
    return NULL;
}

/* The words of the server about the failure of a request. The code of its error, or 0. */
static int dialogue_read_error(const json_t *message, struct error *err)
{
    const json_t *error = json_object_get(message, "error");
    const char *text = json_object_get_string(error, "message");
    const int code = (int)json_integer_value(json_object_get(error, "code"));

    if (!json_is_object(error)) {
        error_set(err, ERROR_UNAVAILABLE, "its answer is no result");
        return 0;
    }
    error_set(err, ERROR_UNAVAILABLE, "%s",
              text && *text ? text : "it failed and does not say why");
    return code != 0 ? code : -1;
}

/* A server may refuse a revision at first, and list it. It is asked once more. */
static bool dialogue_is_refusal(struct dialogue *dialogue, const json_t *message)
{
    const json_t *error = json_object_get(message, "error");
    const json_t *data = json_object_get(error, "data");

    if (dialogue->state != DIALOGUE_DISCOVERING || dialogue->was_refused ||
        json_integer_value(json_object_get(error, "code")) != DIALOGUE_UNSUPPORTED_VERSION)
        return false;
    dialogue->was_refused = true;
    return dialogue_lists_modern(json_object_get(data, "supported"));
}

static void dialogue_take_response(struct dialogue *dialogue, const json_t *message)
{
    struct dialogue_request *request =
        dialogue_find(dialogue, json_integer_value(json_object_get(message, "id")));
    json_t *result = json_object_get(message, "result");
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    if (!request)
        return;
    list_remove(&request->link);
    if (dialogue_is_refusal(dialogue, message))
        dialogue_propose(dialogue);
    else if (json_is_object(result))
        request->done(request, result, NULL, 0, false);
    else
        request->done(request, NULL, &err, dialogue_read_error(message, &err), false);
}

static void dialogue_take_progress(struct dialogue *dialogue, const json_t *params)
{
    struct dialogue_request *request =
        dialogue_find(dialogue, json_integer_value(json_object_get(params, "progressToken")));

    if (request && request->progress)
        request->progress(request, params);
}

static void dialogue_take_notification(struct dialogue *dialogue, const char *method,
                                       const json_t *params)
{
    if (strcmp(method, "notifications/progress") == 0)
        dialogue_take_progress(dialogue, params);
    else if (strcmp(method, "notifications/tools/list_changed") == 0 &&
             dialogue->state == DIALOGUE_OPEN)
        dialogue->changed(dialogue);
}

/* Servers may ask whether we are there; nothing else was offered to them. */
static void dialogue_answer(struct dialogue *dialogue, const char *method, const json_t *id)
{
    AUTO_FREE char *id_text = message_id_text(id, NULL);
    AUTO_FREE char *text = NULL;
    struct error err = ERROR_INIT;

    if (!id_text)
        return;
    if (strcmp(method, "ping") == 0) {
        text = message_result_text(id_text, "{}");
    } else {
        error_set(&err, ERROR_METHOD_NOT_FOUND, "%.60s", method);
        text = message_error(id_text, &err, NULL);
        error_clear(&err);
    }
    (void)dialogue->way->ops->send(dialogue->way, &(struct outgoing){.text = text}, &err);
}

static void dialogue_on_message(struct link_listener *listener, json_t *message)
{
    struct dialogue *dialogue = CONTAINER_OF(listener, struct dialogue, listener);
    const char *method = json_object_get_string(message, "method");
    const json_t *id = json_object_get(message, "id");

    if (!dialogue_is_alive(dialogue))
        return;
    if (!method)
        dialogue_take_response(dialogue, message);
    else if (!id)
        dialogue_take_notification(dialogue, method, json_object_get(message, "params"));
    else
        dialogue_answer(dialogue, method, id);
}

/* An answer that is lost, and nobody knows whose it was, may be that of any request. */
static void dialogue_on_lost(struct link_listener *listener, unsigned id, const struct error *err,
                             bool was_refused)
{
    struct dialogue *dialogue = CONTAINER_OF(listener, struct dialogue, listener);
    struct dialogue_request *request = dialogue_find(dialogue, id);

    if (id == 0)
        dialogue_fail_all(dialogue, err);
    else if (request)
        dialogue_fail_request(request, err, was_refused);
}

static void dialogue_on_broken(struct link_listener *listener, const struct error *err)
{
    struct dialogue *dialogue = CONTAINER_OF(listener, struct dialogue, listener);

    if (dialogue_is_alive(dialogue))
        dialogue_break(dialogue, err);
}

static void dialogue_on_gone(struct link_listener *listener)
{
    struct dialogue *dialogue = CONTAINER_OF(listener, struct dialogue, listener);

    dialogue->way = NULL;
    dialogue_set_state(dialogue, DIALOGUE_CLOSED);
    dialogue->gone(dialogue);
}

/* Its life */

void dialogue_init(struct dialogue *dialogue)
{
    list_init(&dialogue->requests);
    list_init(&dialogue->greeting.link);
    list_init(&dialogue->news.link);
    ev_init(&dialogue->patience, dialogue_on_patience);
    dialogue->listener = (struct link_listener){
        .message = dialogue_on_message,
        .lost = dialogue_on_lost,
        .broken = dialogue_on_broken,
        .gone = dialogue_on_gone,
    };
}

/* A server that was greeted before is not asked for another revision again. */
void dialogue_open(struct dialogue *dialogue, struct tool_link *way)
{
    assert(dialogue->state == DIALOGUE_CLOSED);
    dialogue->way = way;
    dialogue->fault = (struct error)ERROR_INIT_LONG(&dialogue->fault_rest);
    if (dialogue->knows_revision && !mcp_version_is_modern(dialogue->revision))
        dialogue_greet(dialogue);
    else
        dialogue_discover(dialogue);
}

void dialogue_close(struct dialogue *dialogue, bool at_once)
{
    ev_timer_stop(dialogue->loop, &dialogue->patience);
    list_remove(&dialogue->greeting.link);
    list_remove(&dialogue->news.link);
    assert(list_is_empty(&dialogue->requests));
    if (dialogue->state != DIALOGUE_CLOSING)
        dialogue_set_state(dialogue, DIALOGUE_CLOSING);
    dialogue->way->ops->close(dialogue->way, at_once);
}
