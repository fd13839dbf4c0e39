#include "toolbox/tool_call.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/protocol/scan.h"
#include "base/state.h"
#include "toolbox/server_settings.h"
#include "toolbox/tool_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOOL_CALLS_MOST = 64, /* of a principal at a time, to one server */
    TOOL_CALL_ROUNDS = 10,
    TOOL_CALL_INVALID_PARAMS = -32602,
    TOOL_CALL_UNKNOWN_METHOD = -32601,
};

static const struct state tool_call_states[] = {
    [TOOL_CALL_WAITING] = {"waiting", 1 << TOOL_CALL_ASKED | 1 << TOOL_CALL_OVER},
    [TOOL_CALL_ASKED] = {"asked", 1 << TOOL_CALL_WAITING | 1 << TOOL_CALL_OVER},
    [TOOL_CALL_OVER] = {"over", 0},
};

static void tool_call_set_state(struct tool_call *call, enum tool_call_state state)
{
    state_change(tool_call_states, call->state, state, "call of %s.%s", call->server, call->tool);
    call->state = state;
}

/* The end */

static void tool_call_end(struct tool_call *call)
{
    tool_call_set_state(call, TOOL_CALL_OVER);
    list_remove(&call->link);
    call->owner->count--;
    ev_timer_stop(call->owner->dialogue->loop, &call->deadline);
    json_decref(STEAL_PTR(call->request_state));
}

/* Its line in the log, without arguments and result. */
static void tool_call_log(const struct tool_call *call, const json_t *result)
{
    const char *end = !result                                            ? "no answer"
                      : json_is_true(json_object_get(result, "isError")) ? "error"
                                                                         : "success";

    log_info("tool called server=%s tool=%s seconds=%.3f end=%s", call->server, call->tool,
             clock_seconds() - call->began, end);
}

/* The one way out but for cancelling. */
static void tool_call_finish(struct tool_call *call, json_t *result, const struct error *err,
                             bool doubt)
{
    struct tool_calls *owner = call->owner;

    tool_call_end(call);
    if (result || (err && err->code != ERROR_UNAPPROVED))
        tool_call_log(call, result);
    call->done(call, result, err);
    owner->moved(owner, doubt);
}

static void tool_call_fail(struct tool_call *call, const struct error *err)
{
    struct error_rest rest;
    struct error copy = ERROR_INIT_LONG(&rest);

    error_copy(&copy, err);
    secrets_hide_error(&call->owner->settings->secrets, &copy);
    error_prefix(&copy, "%s", call->server);
    tool_call_finish(call, NULL, &copy, false);
}

/* An error of JSON-RPC is an answer, too: the tool has failed. */
static void tool_call_finish_refused(struct tool_call *call, const struct error *err, int code)
{
    AUTO_FREE char *text = error_text(err);
    AUTO_JSON json_t *result = json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text",
                                         json_string_repaired(text, strlen(text)), "isError", 1);

    secrets_hide(&call->owner->settings->secrets, result);
    tool_call_finish(call, result, NULL,
                     code == TOOL_CALL_INVALID_PARAMS || code == TOOL_CALL_UNKNOWN_METHOD);
}

void tool_call_cancel(struct tool_call *call)
{
    struct tool_calls *owner = call->owner;

    if (!owner || call->state == TOOL_CALL_OVER)
        return;
    if (call->state == TOOL_CALL_ASKED)
        dialogue_drop(owner->dialogue, &call->request, "cancelled");
    tool_call_end(call);
    owner->moved(owner, false);
}

static void tool_call_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct tool_call *call = CONTAINER_OF(timer, struct tool_call, deadline);
    struct error err = ERROR_INIT;

    (void)loop;
    (void)events;
    error_set(&err, ERROR_TIMEOUT,
              call->state == TOOL_CALL_WAITING ? "it was not ready after %g seconds"
                                               : "it has not answered after %g seconds",
              call->timeout);
    if (call->state == TOOL_CALL_ASKED)
        dialogue_drop(call->owner->dialogue, &call->request, "timeout");
    tool_call_fail(call, &err);
}

/* Numbers */

/* Tells whether VALUE has a number that was read as another, because it does not fit. */
static bool tool_call_is_inexact(const json_t *value)
{
    const char *name;
    json_t *part;
    size_t i;

    if (json_is_real(value))
        return fabs(json_real_value(value)) == SCAN_LARGE;
    json_array_foreach (value, i, part)
        if (tool_call_is_inexact(part))
            return true;
    json_object_foreach ((json_t *)value, name, part)
        if (tool_call_is_inexact(part))
            return true;
    return false;
}

/* The answer */

static bool tool_call_says(const json_t *result, const char *type)
{
    const char *said = json_object_get_string(result, "resultType");

    return strcmp(said ? said : "complete", type) == 0;
}

/* A server that only wants to be asked again, with its state, is; there is nobody here who could
 * answer its questions. */
static bool tool_call_can_go_on(const struct tool_call *call, const json_t *result)
{
    return tool_call_says(result, "input_required") && call->rounds < TOOL_CALL_ROUNDS &&
           json_object_size(json_object_get(result, "inputRequests")) == 0;
}

static void tool_call_refuse_result(struct tool_call *call, const json_t *result)
{
    struct error err = ERROR_INIT;

    if (tool_call_says(result, "input_required"))
        error_set(&err, ERROR_UNAVAILABLE,
                  "%.100s asks a person for more than its arguments, which a script cannot answer",
                  call->tool);
    else if (tool_call_is_inexact(result))
        error_set(&err, ERROR_LIMIT, "%.100s answers with a number of more than 64 bits",
                  call->tool);
    else
        error_set(&err, ERROR_UNAVAILABLE, "%.100s answers with something that is no result",
                  call->tool);
    tool_call_fail(call, &err);
}

static void tool_call_on_done(struct dialogue_request *request, json_t *result,
                              const struct error *err, int code, bool was_refused)
{
    struct tool_call *call = CONTAINER_OF(request, struct tool_call, request);

    if (was_refused && !call->was_refused) {
        call->was_refused = true;
        tool_call_set_state(call, TOOL_CALL_WAITING);
        call->owner->moved(call->owner, false);
    } else if (code != 0) {
        tool_call_finish_refused(call, err, code);
    } else if (err) {
        tool_call_fail(call, err);
    } else if (tool_call_can_go_on(call, result)) {
        call->rounds++;
        json_decref(call->request_state);
        call->request_state = json_incref(json_object_get(result, "requestState"));
        tool_call_set_state(call, TOOL_CALL_WAITING);
        call->owner->moved(call->owner, false);
    } else if (tool_call_says(result, "complete") && !tool_call_is_inexact(result)) {
        secrets_hide(&call->owner->settings->secrets, result);
        tool_call_finish(call, result, NULL, false);
    } else {
        tool_call_refuse_result(call, result);
    }
}

static void tool_call_on_progress(struct dialogue_request *request, const json_t *params)
{
    struct tool_call *call = CONTAINER_OF(request, struct tool_call, request);
    AUTO_JSON json_t *copy = json_deep_copy(params);

    secrets_hide(&call->owner->settings->secrets, copy);
    call->progress(call, copy);
}

/* Calls in a minute */

/* The calls that are left to one principal. */
struct tool_rate {
    struct list link;
    char *principal;  /* owned */
    double allowance; /* in this minute ... */
    double counted;   /* ... when it was counted */
};

static void tool_rate_free(struct tool_rate *rate)
{
    list_remove(&rate->link);
    free(rate->principal);
    free(rate);
}

/* The rate of PRINCIPAL as of now. Rates that are full again are forgotten. */
static struct tool_rate *tool_calls_find_rate(struct tool_calls *calls, const char *principal)
{
    const double most = calls->settings->calls_per_minute;
    const double now = clock_seconds();
    struct tool_rate *found = NULL;

    LIST_FOR_EACH_SAFE (&calls->rates, link) {
        struct tool_rate *rate = CONTAINER_OF(link, struct tool_rate, link);

        rate->allowance = fmin(most, rate->allowance + (now - rate->counted) * most / 60);
        rate->counted = now;
        if (strcmp(rate->principal, principal) == 0)
            found = rate;
        else if (rate->allowance >= most)
            tool_rate_free(rate);
    }
    if (found)
        return found;
    found = NEW(struct tool_rate);
    found->principal = memory_copy_string(principal);
    found->allowance = most;
    found->counted = now;
    list_append(&calls->rates, &found->link);
    return found;
}

/* As many calls as are allowed in a minute, in one moment or spread over it. A call that is sent
 * again is not counted again. */
static int tool_call_count(const struct tool_call *call, struct error *err)
{
    const unsigned most = call->owner->settings->calls_per_minute;
    struct tool_rate *rate;

    if (most == 0 || call->rounds > 0 || call->was_refused)
        return 0;
    rate = tool_calls_find_rate(call->owner, call->principal);
    if (rate->allowance < 1)
        return error_set(err, ERROR_LIMIT, "more than %u calls in a minute; wait %.0f seconds",
                         most, ceil((1 - rate->allowance) * 60 / most));
    rate->allowance -= 1;
    return 0;
}

/* The question */

static int tool_call_ask(struct tool_call *call, struct error *err)
{
    const struct tool_list *tools = call->owner->tools;
    const json_t *tool = json_object_get(tools->tools, call->tool);
    AUTO_JSON json_t *fields = tool_list_make_fields(tools, call->tool, call->arguments);
    AUTO_JSON json_t *none = json_object();
    AUTO_JSON json_t *params =
        json_pack("{s:s, s:O, s:O*}", "name", call->tool, "arguments",
                  call->arguments ? call->arguments : none, "requestState", call->request_state);

    if (!tool)
        return error_set(err, ERROR_UNKNOWN_TOOL, "there is no tool %.100s", call->tool);
    if (!call->is_approved && server_settings_asks(call->owner->settings, call->tool,
                                                   json_object_get(tool, "annotations")))
        return error_set(err, ERROR_UNAPPROVED, "a person has to approve each call of %.100s",
                         call->tool);
    if (tool_call_count(call, err) < 0)
        return -1;
    call->request.done = tool_call_on_done;
    call->request.progress = call->progress ? tool_call_on_progress : NULL;
    return dialogue_ask(call->owner->dialogue, &call->request,
                        &(struct dialogue_question){
                            .method = "tools/call",
                            .params = params,
                            .tool = call->tool,
                            .fields = fields,
                        },
                        err);
}

static struct tool_call *tool_calls_find_waiting(const struct tool_calls *calls)
{
    LIST_FOR_EACH (&calls->list, link) {
        struct tool_call *call = CONTAINER_OF(link, struct tool_call, link);

        if (call->state == TOOL_CALL_WAITING)
            return call;
    }
    return NULL;
}

/* `done` may add further calls, which wait at the end. */
void tool_calls_send(struct tool_calls *calls)
{
    struct tool_call *call;

    while ((call = tool_calls_find_waiting(calls))) {
        struct error err = ERROR_INIT;

        if (tool_call_ask(call, &err) < 0)
            tool_call_fail(call, &err);
        else
            tool_call_set_state(call, TOOL_CALL_ASKED);
    }
}

static unsigned tool_calls_count(const struct tool_calls *calls, const char *principal)
{
    unsigned count = 0;

    LIST_FOR_EACH (&calls->list, link) {
        count += strcmp(CONTAINER_OF(link, struct tool_call, link)->principal, principal) == 0;
    }
    return count;
}

int tool_calls_add(struct tool_calls *calls, struct tool_call *call, struct error *err)
{
    const double most = calls->settings->timeout;

    if (tool_calls_count(calls, call->principal) >= TOOL_CALLS_MOST)
        return error_set(err, ERROR_BUSY, "%s: %d calls of yours are under way; try again later",
                         call->server, TOOL_CALLS_MOST);
    if (tool_call_is_inexact(call->arguments))
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "%s: a number of more than 64 bits cannot be sent", call->server);
    if (call->timeout <= 0 || call->timeout > most)
        call->timeout = most;
    call->state = TOOL_CALL_WAITING;
    call->owner = calls;
    call->request_state = NULL;
    call->rounds = 0;
    call->began = clock_seconds();
    call->was_refused = false;
    list_append(&calls->list, &call->link);
    calls->count++;
    ev_timer_init(&call->deadline, tool_call_on_deadline, call->timeout, 0.);
    ev_now_update(calls->dialogue->loop);
    ev_timer_start(calls->dialogue->loop, &call->deadline);
    return 0;
}

/* `done` may add further calls, and cancel others. */
void tool_calls_fail(struct tool_calls *calls, const struct error *err)
{
    for (unsigned left = calls->count; left > 0 && !list_is_empty(&calls->list); left--) {
        struct tool_call *call = CONTAINER_OF(calls->list.next, struct tool_call, link);

        if (call->state == TOOL_CALL_ASKED)
            dialogue_drop(calls->dialogue, &call->request, "the server is left");
        tool_call_fail(call, err);
    }
}

void tool_calls_init(struct tool_calls *calls)
{
    list_init(&calls->list);
    list_init(&calls->rates);
}

void tool_calls_deinit(struct tool_calls *calls)
{
    LIST_FOR_EACH_SAFE (&calls->rates, link) {
        tool_rate_free(CONTAINER_OF(link, struct tool_rate, link));
    }
}
