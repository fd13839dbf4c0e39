#include "toolbox/tool_server.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "toolbox/http_link.h"
#include "toolbox/server_settings.h"
#include "toolbox/stdio_link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TOOL_SERVER_PAUSE_SECONDS 2.0 /* after a failure, before it is tried again */

static const struct state tool_server_states[] = {
    [TOOL_SERVER_RESTING] = {"resting", 1 << TOOL_SERVER_OPENING},
    [TOOL_SERVER_OPENING] = {"opening", 1 << TOOL_SERVER_LISTING | 1 << TOOL_SERVER_LEAVING |
                                            1 << TOOL_SERVER_RESTING},
    [TOOL_SERVER_LISTING] = {"listing", 1 << TOOL_SERVER_READY | 1 << TOOL_SERVER_LEAVING},
    [TOOL_SERVER_READY] = {"ready", 1 << TOOL_SERVER_LISTING | 1 << TOOL_SERVER_LEAVING},
    [TOOL_SERVER_LEAVING] = {"leaving", 1 << TOOL_SERVER_CLOSING},
    [TOOL_SERVER_CLOSING] = {"closing", 1 << TOOL_SERVER_RESTING},
};

static void tool_server_set_state(struct tool_server *server, enum tool_server_state state)
{
    state_change(tool_server_states, server->state, state, "tools of %s", server->settings->name);
    server->state = state;
}

const char *tool_server_state_name(const struct tool_server *server)
{
    return tool_server_states[server->state].name;
}

static void tool_server_schedule(struct tool_server *server)
{
    if (!ev_is_active(&server->turn))
        ev_timer_start(server->means.loop, &server->turn);
}

static bool tool_server_is_wanted(const struct tool_server *server)
{
    return server->calls.count > 0 || !list_is_empty(&server->waiters) || server->is_tried;
}

/* Its waiters and its calls that wait are told. */
static void tool_server_tell_waiters(struct tool_server *server, const struct error *err)
{
    struct list told;

    list_init(&told);
    while (!list_is_empty(&server->waiters)) {
        struct list *link = server->waiters.next;

        list_remove(link);
        list_append(&told, link);
    }
    while (!list_is_empty(&told)) {
        struct tool_waiter *waiter = CONTAINER_OF(told.next, struct tool_waiter, link);

        list_remove(&waiter->link);
        waiter->listed(waiter, err);
    }
}

/* It has kept others waiting for its first list: it is tried beside from now on. */
static bool tool_server_is_late(const struct tool_server *server)
{
    const double waiting =
        server->settings->url ? server->means.far_waiting : server->means.waiting;

    return server->began > 0 && clock_seconds() - server->began >= waiting;
}

/* Leaving */

/* Nothing is asked any more; the link is closed at the next turn, because it may be on the stack.
 */
static void tool_server_give_up(struct tool_server *server)
{
    server->is_tried = false;
    if (server->state == TOOL_SERVER_LEAVING || server->state == TOOL_SERVER_CLOSING ||
        server->state == TOOL_SERVER_RESTING)
        return;
    ev_timer_stop(server->means.loop, &server->idle);
    dialogue_drop(&server->dialogue, &server->fetching, "the server is left");
    tool_list_deinit(&server->fetched);
    tool_server_set_state(server, TOOL_SERVER_LEAVING);
    tool_server_schedule(server);
}

/* It could not be reached, or its tools could not be listed: whoever waits is told. */
static void tool_server_fail(struct tool_server *server, const struct error *err)
{
    error_clear(&server->failure);
    error_copy(&server->failure, err);
    secrets_hide_error(&server->settings->secrets, &server->failure);
    server->failed = clock_seconds();
    if (!tool_server_is_late(server))
        server->began = 0;
    log_warning("the tools of %s cannot be reached: %.*s", server->settings->name,
                (int)strcspn(server->failure.message, "\n"), server->failure.message);
    tool_server_give_up(server);
    tool_server_tell_waiters(server, &server->failure);
    tool_calls_fail(&server->calls, &server->failure);
}

static void tool_server_on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct tool_server *server = CONTAINER_OF(timer, struct tool_server, idle);

    (void)loop;
    (void)events;
    if (!tool_server_is_wanted(server))
        tool_server_give_up(server);
}

/* Listing */

static void tool_server_list_on(struct tool_server *server, json_t *cursor);

static void tool_server_finish_list(struct tool_server *server)
{
    tool_list_deinit(&server->tools);
    server->tools = server->fetched;
    server->fetched = (struct tool_list){0};
    server->began = 0;
    server->is_tried = false;
    error_clear(&server->failure);
    tool_server_set_state(server, TOOL_SERVER_READY);
    log_info("tools listed server=%s count=%zu", server->settings->name,
             json_object_size(server->tools.tools));
    tool_server_tell_waiters(server, NULL);
    tool_server_schedule(server);
}

static void tool_server_on_page(struct dialogue_request *request, json_t *result,
                                const struct error *err, int code, bool was_refused)
{
    struct tool_server *server = CONTAINER_OF(request, struct tool_server, fetching);
    AUTO_JSON json_t *cursor = NULL;
    struct error_rest rest;
    struct error fault = ERROR_INIT_LONG(&rest);

    (void)code;
    (void)was_refused;
    if (err)
        error_copy(&fault, err);
    if (err && err->code == ERROR_LIMIT)
        error_prefix(&fault, "its list of tools");
    if (result && tool_list_add(&server->fetched, server->settings, result, &cursor, &fault) < 0)
        result = NULL;
    if (!result)
        tool_server_fail(server, &fault);
    else if (cursor)
        tool_server_list_on(server, cursor);
    else
        tool_server_finish_list(server);
}

static void tool_server_list_on(struct tool_server *server, json_t *cursor)
{
    AUTO_JSON json_t *params = cursor ? json_pack("{s:O}", "cursor", cursor) : NULL;
    struct error err = ERROR_INIT;

    server->fetching.done = tool_server_on_page;
    if (dialogue_ask(&server->dialogue, &server->fetching,
                     &(struct dialogue_question){.method = "tools/list", .params = params},
                     &err) < 0)
        tool_server_fail(server, &err);
}

static void tool_server_list(struct tool_server *server)
{
    const bool has_fields =
        server->settings->url && mcp_version_is_modern(server->dialogue.revision);

    server->is_stale = false;
    tool_list_deinit(&server->fetched);
    tool_list_init(&server->fetched, has_fields);
    tool_server_set_state(server, TOOL_SERVER_LISTING);
    tool_server_list_on(server, NULL);
}

/* Reaching it */

static void tool_server_on_opened(struct dialogue *dialogue, const struct error *err)
{
    struct tool_server *server = CONTAINER_OF(dialogue, struct tool_server, dialogue);

    if (server->state != TOOL_SERVER_OPENING)
        return;
    if (err)
        tool_server_fail(server, err);
    else
        tool_server_list(server);
}

static void tool_server_on_changed(struct dialogue *dialogue)
{
    struct tool_server *server = CONTAINER_OF(dialogue, struct tool_server, dialogue);

    server->is_stale = true;
    tool_server_schedule(server);
}

/* The calls under way were told by the dialogue. */
static void tool_server_on_broken(struct dialogue *dialogue, const struct error *err)
{
    struct tool_server *server = CONTAINER_OF(dialogue, struct tool_server, dialogue);

    if (server->state == TOOL_SERVER_LISTING || server->state == TOOL_SERVER_READY)
        log_warning("the tools of %s are lost: %.*s", server->settings->name,
                    (int)strcspn(err->message, "\n"), err->message);
    tool_server_give_up(server);
}

static void tool_server_on_gone(struct dialogue *dialogue)
{
    struct tool_server *server = CONTAINER_OF(dialogue, struct tool_server, dialogue);

    tool_server_set_state(server, TOOL_SERVER_RESTING);
    tool_server_schedule(server);
}

static struct tool_link *tool_server_open_link(struct tool_server *server, struct error *err)
{
    struct link_listener *listener = &server->dialogue.listener;

    if (server->settings->command)
        return stdio_link_open(server->means.loop, server->means.host, server->settings, listener,
                               err);
    if (!server->means.transfers) {
        error_set(err, ERROR_UNAVAILABLE, "libcurl is not installed, which reaches it");
        return NULL;
    }
    return http_link_open(server->means.loop, server->means.transfers, server->settings, listener,
                          err);
}

static void tool_server_open(struct tool_server *server)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    struct tool_link *way;

    way = tool_server_open_link(server, &err);
    if (!way) {
        tool_server_fail(server, &err);
        return;
    }
    if (server->began == 0)
        server->began = clock_seconds();
    tool_server_set_state(server, TOOL_SERVER_OPENING);
    dialogue_open(&server->dialogue, way);
}

/* The next step */

static void tool_server_rest(struct tool_server *server)
{
    if (tool_server_is_wanted(server))
        tool_server_open(server);
    else if (server->is_retired)
        server->retired(server);
}

static void tool_server_act(struct tool_server *server)
{
    tool_calls_send(&server->calls);
    if (server->state == TOOL_SERVER_READY && server->is_stale)
        tool_server_list(server);
    if (server->state != TOOL_SERVER_READY || tool_server_is_wanted(server))
        return;
    if (server->is_retired) {
        tool_server_give_up(server);
        return;
    }
    ev_timer_stop(server->means.loop, &server->idle);
    ev_timer_set(&server->idle, server->settings->idle, 0.);
    ev_timer_start(server->means.loop, &server->idle);
}

static void tool_server_on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct tool_server *server = CONTAINER_OF(timer, struct tool_server, turn);

    (void)loop;
    (void)events;
    switch (server->state) {
    case TOOL_SERVER_RESTING:
        tool_server_rest(server);
        break;
    case TOOL_SERVER_LISTING:
        if (server->tools.tools)
            tool_calls_send(&server->calls);
        break;
    case TOOL_SERVER_READY:
        tool_server_act(server);
        break;
    case TOOL_SERVER_LEAVING:
        tool_server_set_state(server, TOOL_SERVER_CLOSING);
        dialogue_close(&server->dialogue, false);
        break;
    case TOOL_SERVER_OPENING:
    case TOOL_SERVER_CLOSING:
        break;
    }
}

static void tool_server_on_moved(struct tool_calls *calls, bool doubt)
{
    struct tool_server *server = CONTAINER_OF(calls, struct tool_server, calls);

    server->is_stale |= doubt;
    tool_server_schedule(server);
}

/* Use */

static int tool_server_check_failure(const struct tool_server *server, struct error *err)
{
    if (server->failure.code == ERROR_NONE ||
        clock_seconds() - server->failed >= TOOL_SERVER_PAUSE_SECONDS)
        return 0;
    error_copy(err, &server->failure);
    return error_prefix(err, "%s", server->settings->name);
}

static int tool_server_check_tool(const struct tool_server *server, const char *tool,
                                  struct error *err)
{
    if (!server_settings_allow(server->settings, tool))
        return error_set(err, ERROR_DENIED, "%s: the operator does not allow the tool %.100s",
                         server->settings->name, tool);
    return 0;
}

int tool_server_call(struct tool_server *server, struct tool_call *call, struct error *err)
{
    if (tool_server_check_tool(server, call->tool, err) < 0 ||
        (server->state == TOOL_SERVER_RESTING && tool_server_check_failure(server, err) < 0) ||
        tool_calls_add(&server->calls, call, err) < 0)
        return -1;
    ev_timer_stop(server->means.loop, &server->idle);
    tool_server_schedule(server);
    return 0;
}

enum outcome tool_server_look(struct tool_server *server, struct tool_waiter *waiter,
                              struct error *err)
{
    list_init(&waiter->link);
    if (server->tools.tools)
        return OUTCOME_READY;
    if (server->state == TOOL_SERVER_RESTING && tool_server_check_failure(server, err) < 0)
        return OUTCOME_FAILED;
    tool_server_schedule(server);
    if (tool_server_is_late(server)) {
        server->is_tried = true;
        error_set(err, ERROR_TIMEOUT, "%s is not ready yet", server->settings->name);
        return OUTCOME_FAILED;
    }
    list_append(&server->waiters, &waiter->link);
    return OUTCOME_PENDING;
}

const json_t *tool_server_tools(const struct tool_server *server)
{
    return server->tools.tools;
}

/* Its life */

struct tool_server *tool_server_new(const struct tool_server_means *means,
                                    struct server_settings *settings, const char *principal)
{
    struct tool_server *server = NEW(struct tool_server);

    server->means = *means;
    server->settings = server_settings_ref(settings);
    server->principal = principal ? memory_copy_string(principal) : NULL;
    server->failure = (struct error)ERROR_INIT_LONG(&server->failure_rest);
    list_init(&server->link);
    list_init(&server->waiters);
    ev_timer_init(&server->turn, tool_server_on_turn, 0., 0.);
    ev_init(&server->idle, tool_server_on_idle);
    server->calls = (struct tool_calls){
        .dialogue = &server->dialogue,
        .settings = settings,
        .tools = &server->tools,
        .moved = tool_server_on_moved,
    };
    tool_calls_init(&server->calls);
    server->dialogue = (struct dialogue){
        .loop = means->loop,
        .name = settings->name,
        .version = means->version,
        .opened = tool_server_on_opened,
        .changed = tool_server_on_changed,
        .broken = tool_server_on_broken,
        .gone = tool_server_on_gone,
    };
    dialogue_init(&server->dialogue);
    return server;
}

void tool_server_free(struct tool_server *server)
{
    assert(server->state == TOOL_SERVER_RESTING);
    list_remove(&server->link);
    ev_timer_stop(server->means.loop, &server->turn);
    ev_timer_stop(server->means.loop, &server->idle);
    tool_list_deinit(&server->tools);
    tool_list_deinit(&server->fetched);
    tool_calls_deinit(&server->calls);
    server_settings_unref(server->settings);
    free(server->principal);
    free(server);
}

void tool_server_retire(struct tool_server *server)
{
    server->is_retired = true;
    server->is_tried = false;
    tool_server_schedule(server);
}

void tool_server_leave(struct tool_server *server, bool at_once)
{
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_UNAVAILABLE, "the server ends");
    tool_server_give_up(server);
    tool_server_tell_waiters(server, &err);
    tool_calls_fail(&server->calls, &err);
    if (!at_once || server->state == TOOL_SERVER_RESTING)
        return;
    if (server->state == TOOL_SERVER_LEAVING)
        tool_server_set_state(server, TOOL_SERVER_CLOSING);
    dialogue_close(&server->dialogue, true);
}
