#include "server/script_calls.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/environment.h"
#include "server/mcp/foreign_result.h"
#include "server/tools/invocation.h"
#include "server/tools/limits.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tool of the script, and the account of its calls. */
struct script_offer {
    struct list link;
    struct script_calls *calls;   /* borrowed */
    char *name;                   /* owned: of both, "server.tool" */
    char *server;                 /* owned */
    const char *tool;             /* in `name`; NULL: the server cannot be reached ... */
    char *reason;                 /* owned: ... and why */
    enum script_answer permitted; /* of a person, for all calls of this turn: YES or NO */
    unsigned made;
    unsigned errors;
    double seconds;
    size_t bytes;
};

enum script_call_state {
    SCRIPT_CALL_ASKED,
    SCRIPT_CALL_QUEUED,
    SCRIPT_CALL_QUESTION,
    SCRIPT_CALL_WITHDRAWN
};

struct script_call {
    struct list link;
    enum script_call_state state;
    struct script_offer *offer;    /* borrowed */
    struct invocation *invocation; /* borrowed: it cancels or outlives this */
    struct tool_call call;
    struct script_question question;
    double began;
};

static const struct state script_call_states[] = {
    [SCRIPT_CALL_ASKED] = {"asked", 1 << SCRIPT_CALL_QUEUED | 1 << SCRIPT_CALL_WITHDRAWN},
    [SCRIPT_CALL_QUEUED] = {"queued", 1 << SCRIPT_CALL_ASKED | 1 << SCRIPT_CALL_QUESTION |
                                          1 << SCRIPT_CALL_WITHDRAWN},
    [SCRIPT_CALL_QUESTION] = {"question", 1 << SCRIPT_CALL_ASKED | 1 << SCRIPT_CALL_WITHDRAWN},
    [SCRIPT_CALL_WITHDRAWN] = {"withdrawn", 0},
};

enum script_failure {
    SCRIPT_FAILURE_DENIED,      /* it is not allowed, or a person has said no */
    SCRIPT_FAILURE_TIMEOUT,     /* no answer in time */
    SCRIPT_FAILURE_UNAVAILABLE, /* its server cannot be reached, or makes no sense */
    SCRIPT_FAILURE_LIMIT,       /* there were too many calls, or too much was returned */
};

/* As the module `tools` knows them. */
static const char *const script_failure_names[] = {
    [SCRIPT_FAILURE_DENIED] = "denied",
    [SCRIPT_FAILURE_TIMEOUT] = "timeout",
    [SCRIPT_FAILURE_UNAVAILABLE] = "unavailable",
    [SCRIPT_FAILURE_LIMIT] = "limit",
};

static enum script_failure script_failure_of(enum error_code code)
{
    switch (code) {
    case ERROR_DENIED:
    case ERROR_UNAPPROVED:
        return SCRIPT_FAILURE_DENIED;
    case ERROR_TIMEOUT:
        return SCRIPT_FAILURE_TIMEOUT;
    case ERROR_LIMIT:
    case ERROR_BUSY:
        return SCRIPT_FAILURE_LIMIT;
    default:
        return SCRIPT_FAILURE_UNAVAILABLE;
    }
}

/* Reach */

struct tool_reach script_calls_reach(const struct script_calls *calls)
{
    return (struct tool_reach){
        .principal = calls->principal,
        .environment = (const char *const *)calls->environment->settings.tools,
        .token = calls->limits ? limits_find(calls->limits, calls->principal)->tools : NULL,
        .is_isolated = environment_isolation(calls->environment) != ISOLATION_NONE,
    };
}

bool script_calls_are_possible(const struct script_calls *calls)
{
    const struct tool_reach reach = script_calls_reach(calls);

    for (const char *const *name = reach.environment; name && *name; name++)
        if (toolbox_reaches(calls->toolbox, &reach, *name))
            return true;
    return false;
}

/* Waiting */

static void script_calls_tell_wait(struct script_calls *calls)
{
    enum script_wait wait = SCRIPT_WAITS_FOR_NOTHING;

    if (calls->asking)
        wait = SCRIPT_WAITS_FOR_A_PERSON;
    else if (calls->pending_count > 0 || calls->is_listing)
        wait = SCRIPT_WAITS_FOR_TOOLS;
    if (wait == calls->wait)
        return;
    calls->wait = wait;
    if (calls->tools->waits)
        calls->tools->waits(calls->tools->data, wait);
}

void script_calls_set_listing(struct script_calls *calls, bool is_listing)
{
    calls->is_listing = is_listing;
    script_calls_tell_wait(calls);
}

/* The end of a call */

static void script_call_set_state(struct script_call *call, enum script_call_state state)
{
    state_change(script_call_states, call->state, state, "call of %s", call->offer->name);
    call->state = state;
}

/* Its invocation has ended, or will not hear of it. */
static void script_call_free(struct script_call *call)
{
    struct script_calls *calls = call->offer->calls;

    call->offer->seconds += clock_seconds() - call->began;
    list_remove(&call->link);
    calls->pending_count--;
    if (calls->asking == call)
        calls->asking = NULL;
    script_calls_tell_wait(calls);
    free(call);
}

static void script_offer_fail(struct script_offer *offer, struct invocation *invocation,
                              enum script_failure failure, const char *text)
{
    offer->errors++;
    invocation_add_text(invocation, text, strlen(text));
    invocation->result.is_error = true;
    invocation->result.failure = script_failure_names[failure];
}

/* RESULT has BYTES, which count from now on. False, with the reason, if they are too many. */
static bool script_offer_has_room(struct script_offer *offer, size_t bytes,
                                  struct invocation *invocation)
{
    struct script_calls *calls = offer->calls;
    AUTO_FREE char *text = NULL;

    if (bytes > SCRIPT_RESULT_BYTES)
        text =
            memory_format("the result has %zu bytes, the limit is %d", bytes, SCRIPT_RESULT_BYTES);
    else if (calls->bytes + bytes > SCRIPT_RESULTS_BYTES)
        text = memory_format("all results of this run together have more than %d bytes",
                             SCRIPT_RESULTS_BYTES);
    if (text) {
        script_offer_fail(offer, invocation, SCRIPT_FAILURE_LIMIT, text);
        return false;
    }
    calls->bytes += bytes;
    offer->bytes += bytes;
    return true;
}

/* Puts RESULT, a CallToolResult, into INVOCATION. Only its content counts. */
static void script_offer_take(struct script_offer *offer, struct invocation *invocation,
                              const json_t *result)
{
    json_t *content = json_object_get(result, "content");
    json_t *structured = json_object_get(result, "structuredContent");

    if (!foreign_result_is_right(result)) {
        script_offer_fail(offer, invocation, SCRIPT_FAILURE_UNAVAILABLE,
                          "it answers with something that is no result");
        return;
    }
    if (!script_offer_has_room(offer, json_dumpb(result, NULL, 0, JSON_COMPACT), invocation))
        return;
    invocation->result.content = content ? json_incref(content) : json_array();
    invocation->result.structured = json_is_null(structured) ? NULL : json_incref(structured);
    invocation->result.is_error = json_is_true(json_object_get(result, "isError"));
    offer->errors += invocation->result.is_error;
}

/* The one way out but for cancelling: the invocation has its result. */
static void script_call_finish(struct script_call *call)
{
    struct invocation *invocation = call->invocation;

    script_call_free(call);
    invocation_finish(invocation);
}

static void script_call_fail(struct script_call *call, enum script_failure failure,
                             const char *text)
{
    script_offer_fail(call->offer, call->invocation, failure, text);
    script_call_finish(call);
}

/* Approval */

static void script_calls_ask_next(struct script_calls *calls);

static int script_call_send(struct script_call *call, struct error *err)
{
    struct script_calls *calls = call->offer->calls;
    const struct tool_reach reach = script_calls_reach(calls);

    return toolbox_call(calls->toolbox, &reach, &call->call, err);
}

static void script_call_send_approved(struct script_call *call)
{
    struct error err = ERROR_INIT;

    script_call_set_state(call, SCRIPT_CALL_ASKED);
    call->call.is_approved = true;
    if (script_call_send(call, &err) < 0)
        script_call_fail(call, script_failure_of(err.code), err.message);
}

static void script_call_refuse(struct script_call *call, const char *reason)
{
    AUTO_FREE char *text = reason && *reason
                               ? memory_format("the user does not allow this call: %s", reason)
                               : memory_copy_string("the user does not allow this call");

    script_call_fail(call, SCRIPT_FAILURE_DENIED, text);
}

static void script_call_on_answered(struct script_question *question, enum script_answer answer,
                                    const char *reason)
{
    struct script_call *call = CONTAINER_OF(question, struct script_call, question);
    struct script_calls *calls = call->offer->calls;

    calls->asking = NULL;
    if (answer == SCRIPT_ANSWER_YES || answer == SCRIPT_ANSWER_NO)
        call->offer->permitted = answer;
    if (answer == SCRIPT_ANSWER_NONE)
        script_call_fail(call, SCRIPT_FAILURE_DENIED, reason);
    else if (answer == SCRIPT_ANSWER_NO)
        script_call_refuse(call, reason);
    else
        script_call_send_approved(call);
    script_calls_ask_next(calls);
}

/* Somebody has said yes to the code, and was told that it calls this tool. */
static bool script_offer_is_approved(const struct script_offer *offer)
{
    const struct script_sender *sender = offer->calls->sender;
    const json_t *name;
    size_t i;

    if (offer->permitted == SCRIPT_ANSWER_YES)
        return true;
    json_array_foreach (sender ? sender->approved : NULL, i, name)
        if (strcmp(json_string_value(name), offer->name) == 0)
            return true;
    return false;
}

/* False: CALL is over, or goes on without a question. */
static bool script_call_ask(struct script_call *call)
{
    struct script_calls *calls = call->offer->calls;
    const char *why_not = "a person has to approve it, and its code is to end";

    if (script_offer_is_approved(call->offer)) {
        script_call_send_approved(call);
        return false;
    }
    if (call->offer->permitted == SCRIPT_ANSWER_NO) {
        script_call_refuse(call, "an earlier call of this tool in this run was refused");
        return false;
    }
    if (calls->sender)
        why_not = calls->sender->ask(calls->sender, &call->question);
    if (why_not) {
        script_call_fail(call, SCRIPT_FAILURE_DENIED, why_not);
        return false;
    }
    script_call_set_state(call, SCRIPT_CALL_QUESTION);
    calls->asking = call;
    return true;
}

static struct script_call *script_calls_find_queued(const struct script_calls *calls)
{
    LIST_FOR_EACH (&calls->pending, link) {
        struct script_call *call = CONTAINER_OF(link, struct script_call, link);

        if (call->state == SCRIPT_CALL_QUEUED)
            return call;
    }
    return NULL;
}

/* One question at a time. */
static void script_calls_ask_next(struct script_calls *calls)
{
    struct script_call *call;

    while (!calls->asking && (call = script_calls_find_queued(calls)))
        if (script_call_ask(call))
            break;
    script_calls_tell_wait(calls);
}

/* Calls */

static void script_call_on_done(struct tool_call *tool_call, json_t *result,
                                const struct error *err)
{
    struct script_call *call = CONTAINER_OF(tool_call, struct script_call, call);
    struct script_calls *calls = call->offer->calls;

    if (result) {
        script_offer_take(call->offer, call->invocation, result);
        script_call_finish(call);
    } else if (err->code == ERROR_UNAPPROVED && !call->call.is_approved) {
        script_call_set_state(call, SCRIPT_CALL_QUEUED);
        script_calls_ask_next(calls);
    } else {
        AUTO_FREE char *text = error_text(err);

        script_call_fail(call, script_failure_of(err->code), text);
    }
}

static void script_call_on_progress(struct tool_call *tool_call, const json_t *params)
{
    struct invocation *invocation = CONTAINER_OF(tool_call, struct script_call, call)->invocation;
    const json_t *total = json_object_get(params, "total");

    if (invocation->wants_progress)
        invocation->progress(invocation, json_number_value(json_object_get(params, "progress")),
                             total ? json_number_value(total) : -1,
                             json_object_get_string(params, "message"));
}

static struct script_call *script_call_new(struct invocation *invocation)
{
    struct script_offer *offer = invocation->data;
    struct script_call *call = NEW(struct script_call);

    call->offer = offer;
    call->invocation = invocation;
    call->began = clock_seconds();
    call->call = (struct tool_call){
        .server = offer->server,
        .tool = offer->tool,
        .arguments = invocation->arguments,
        .progress = invocation->wants_progress ? script_call_on_progress : NULL,
        .done = script_call_on_done,
    };
    call->question = (struct script_question){
        .tool = offer->name,
        .arguments = invocation->arguments,
        .answered = script_call_on_answered,
    };
    list_append(&offer->calls->pending, &call->link);
    offer->calls->pending_count++;
    script_calls_tell_wait(offer->calls);
    return call;
}

/* Calls with wrong arguments count, too: to check them takes time of ours. */
static bool script_offer_count(const struct tool *tool)
{
    const struct script_offer *offer = tool->data;

    if (!offer->tool)
        return true;
    return ++offer->calls->made <= SCRIPT_CALLS;
}

/* NULL: INVOCATION may become a call; else the reason why not. */
static const char *script_offer_refusal(const struct script_offer *offer,
                                        enum script_failure *ret_failure)
{
    const struct script_calls *calls = offer->calls;

    *ret_failure = SCRIPT_FAILURE_UNAVAILABLE;
    if (!offer->tool)
        return offer->reason;
    *ret_failure = SCRIPT_FAILURE_LIMIT;
    if (calls->made > SCRIPT_CALLS)
        return "this run has made 100 calls, which is the limit";
    if (calls->pending_count >= SCRIPT_CALLS_AT_ONCE)
        return "8 calls of this run are pending, which is the limit";
    *ret_failure = SCRIPT_FAILURE_DENIED;
    return calls->has_turn ? NULL : "no code of this session is at work";
}

static enum outcome script_offer_start(struct invocation *invocation, struct error *err)
{
    struct script_offer *offer = invocation->data;
    struct script_calls *calls = offer->calls;
    enum script_failure failure;
    const char *refusal = script_offer_refusal(offer, &failure);
    struct script_call *call;

    offer->made++;
    if (refusal) {
        script_offer_fail(offer, invocation, failure, refusal);
        return OUTCOME_READY;
    }
    if (calls->sender)
        calls->sender->called(calls->sender, offer->name);
    call = script_call_new(invocation);
    invocation->work = call;
    if (script_call_send(call, err) == 0)
        return OUTCOME_PENDING;
    script_offer_fail(offer, invocation, script_failure_of(err->code), err->message);
    script_call_free(call);
    error_clear(err);
    return OUTCOME_READY;
}

/* Neither the server nor a person is to answer any more. */
static void script_call_withdraw(struct script_call *call)
{
    const struct script_calls *calls = call->offer->calls;

    if (call->state == SCRIPT_CALL_QUESTION)
        calls->sender->withdraw(calls->sender);
    else if (call->state == SCRIPT_CALL_ASKED)
        tool_call_cancel(&call->call);
}

static void script_offer_cancel(struct invocation *invocation)
{
    struct script_call *call = invocation->work;
    struct script_calls *calls = call->offer->calls;

    script_call_withdraw(call);
    call->offer->errors++;
    script_call_free(call);
    script_calls_ask_next(calls);
}

/* Offers */

static void script_offer_free(struct script_offer *offer)
{
    list_remove(&offer->link);
    free(offer->name);
    free(offer->server);
    free(offer->reason);
    free(offer);
}

/* NAME is taken, and is that of SERVER, or begins with it. */
static struct script_offer *script_offer_new(struct script_calls *calls, char *name,
                                             const char *server)
{
    struct script_offer *offer = NEW(struct script_offer);

    offer->calls = calls;
    offer->name = name;
    offer->server = memory_copy_string(server);
    list_append(&calls->offers, &offer->link);
    return offer;
}

static int script_offer_register(struct script_offer *offer, struct registry *registry,
                                 const json_t *definition, struct error *err)
{
    struct tool tool = {
        .name = offer->name,
        .description = json_object_get_string(definition, "summary"),
        .input_schema = json_incref(json_object_get(definition, "inputSchema")),
        .output_schema = json_incref(json_object_get(definition, "outputSchema")),
        .annotations = json_incref(json_object_get(definition, "annotations")),
        .is_foreign = true,
        .data = offer,
        .count = script_offer_count,
        .start = script_offer_start,
        .cancel = script_offer_cancel,
    };

    return tool_register_function(registry, &tool, err);
}

/* A tool whose name or texts are no good is left out. */
static void script_calls_offer_tool(struct script_calls *calls, struct registry *registry,
                                    const json_t *definition)
{
    const char *server = json_object_get_string(definition, "server");
    struct script_offer *offer = script_offer_new(
        calls, memory_format("%s.%s", server, json_object_get_string(definition, "name")), server);
    struct error err = ERROR_INIT;

    offer->tool = offer->name + strlen(server) + 1;
    if (script_offer_register(offer, registry, definition, &err) == 0)
        return;
    log_info("a tool is not offered to scripts: %s", err.message);
    script_offer_free(offer);
}

static void script_calls_offer_reason(struct script_calls *calls, struct registry *registry,
                                      const char *server, const char *reason)
{
    struct script_offer *offer = script_offer_new(calls, memory_copy_string(server), server);
    AUTO_JSON json_t *definition =
        json_pack("{s:s, s:{s:s}}", "summary", reason, "inputSchema", "type", "object");
    struct error err = ERROR_INIT;

    offer->reason = memory_copy_string(reason);
    if (script_offer_register(offer, registry, definition, &err) < 0)
        script_offer_free(offer);
}

void script_calls_offer(struct script_calls *calls, struct registry *registry,
                        const struct tool_survey *survey)
{
    const json_t *definition;
    const char *server;
    json_t *reason;
    size_t i;

    json_array_foreach (survey->tools, i, definition)
        script_calls_offer_tool(calls, registry, definition);
    json_object_foreach (survey->failures, server, reason)
        script_calls_offer_reason(calls, registry, server, json_string_value(reason));
}

/* The turns of a script */

void script_calls_begin(struct script_calls *calls, struct script_sender *sender)
{
    calls->has_turn = true;
    calls->sender = sender;
    calls->made = 0;
    calls->bytes = 0;
    LIST_FOR_EACH (&calls->offers, link) {
        struct script_offer *offer = CONTAINER_OF(link, struct script_offer, link);

        offer->permitted = SCRIPT_ANSWER_NONE;
        offer->made = offer->errors = 0;
        offer->seconds = 0;
        offer->bytes = 0;
    }
    calls->tools->waits(calls->tools->data, calls->wait); /* for the list, since an earlier turn */
}

void script_calls_interrupt(struct script_calls *calls)
{
    LIST_FOR_EACH (&calls->pending, link) {
        struct script_call *call = CONTAINER_OF(link, struct script_call, link);

        script_call_withdraw(call);
        if (call->state != SCRIPT_CALL_WITHDRAWN)
            script_call_set_state(call, SCRIPT_CALL_WITHDRAWN);
    }
    calls->asking = NULL;
    calls->sender = NULL;
    script_calls_tell_wait(calls);
}

/* The script may be there still, and is told. */
static void script_calls_cancel_pending(struct script_calls *calls)
{
    LIST_FOR_EACH_SAFE (&calls->pending, link) {
        struct script_call *call = CONTAINER_OF(link, struct script_call, link);

        script_call_withdraw(call);
        script_call_fail(call, SCRIPT_FAILURE_UNAVAILABLE, "its code has ended");
    }
}

/* NULL: there were no calls. New reference. */
static json_t *script_calls_account(const struct script_calls *calls)
{
    json_t *account = json_object();

    LIST_FOR_EACH (&calls->offers, link) {
        const struct script_offer *offer = CONTAINER_OF(link, const struct script_offer, link);

        if (offer->made > 0)
            json_object_set_new(account, offer->name,
                                json_pack("{s:I, s:I, s:f, s:I}", "calls", (json_int_t)offer->made,
                                          "errors", (json_int_t)offer->errors, "seconds",
                                          round(offer->seconds * 1e6) / 1e6, "bytes",
                                          (json_int_t)offer->bytes));
    }
    if (json_object_size(account) > 0)
        return account;
    json_decref(account);
    return NULL;
}

json_t *script_calls_end(struct script_calls *calls)
{
    if (!calls->has_turn)
        return NULL;
    calls->has_turn = false;
    script_calls_cancel_pending(calls);
    calls->sender = NULL;
    return script_calls_account(calls);
}

void script_calls_init(struct script_calls *calls)
{
    list_init(&calls->pending);
    list_init(&calls->offers);
}

void script_calls_deinit(struct script_calls *calls)
{
    assert(list_is_empty(&calls->pending));
    LIST_FOR_EACH_SAFE (&calls->offers, link) {
        script_offer_free(CONTAINER_OF(link, struct script_offer, link));
    }
}
