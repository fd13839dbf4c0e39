#include "server/script_channel.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/environment.h"
#include "server/mcp/server.h"
#include "server/tool_source.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"
#include "server/transport/stream.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRIPT_STALL_SECONDS 60. /* for a script to take any of its answers */

#define SCRIPT_SETTLE_SECONDS 0.05

enum script_channel_state { SCRIPT_CLOSED, SCRIPT_LISTING, SCRIPT_SERVING, SCRIPT_OVER };

static const struct state script_channel_states[] = {
    [SCRIPT_CLOSED] = {"closed", 1 << SCRIPT_LISTING | 1 << SCRIPT_SERVING},
    [SCRIPT_LISTING] = {"listing", 1 << SCRIPT_SERVING},
    [SCRIPT_SERVING] = {"serving", 1 << SCRIPT_OVER},
    [SCRIPT_OVER] = {"over", 0},
};

static const char *const script_failure_names[TOOL_FAILURES] = {
    [TOOL_DENIED] = "denied",
    [TOOL_TIMED_OUT] = "timeout",
    [TOOL_UNAVAILABLE] = "unavailable",
    [TOOL_LIMITED] = "limit",
};

struct script_channel {
    struct script_tools tools;
    struct script_channels *channels;      /* borrowed */
    const struct environment *environment; /* borrowed */
    char *principal;                       /* owned */
    unsigned number;                       /* in the log */
    enum script_channel_state state;
    int end;     /* owned: ours; -1: the stream has it */
    ev_io first; /* the script writes */
    struct tool_listing listing;
    struct registry *registry; /* owned, as all below, when it is SERVING */
    struct mcp_server server;
    struct transport_limits limits;
    struct stream stream;
    ev_timer settling;  /* the stream is leaving */
    struct list offers; /* of struct script_offer: owned */

    bool has_turn;       /* calls are possible */
    unsigned made;       /* calls, in this turn */
    size_t bytes;        /* of their results */
    struct list pending; /* of struct script_call: owned */
    unsigned pending_count;
};

/* A tool of a channel, and the account of its calls. */
struct script_offer {
    struct list link;
    struct script_channel *channel; /* borrowed */
    char *name;                     /* owned: of both, "server.tool" */
    char *server;                   /* owned */
    const char *tool;               /* in `name` */
    unsigned calls;
    unsigned errors;
    double seconds;
    size_t bytes;
};

struct script_call {
    struct list link;
    struct script_offer *offer;    /* borrowed */
    struct invocation *invocation; /* borrowed: it cancels or outlives this */
    struct source_call call;
    double began;
};

static void script_channel_set_state(struct script_channel *channel,
                                     enum script_channel_state state)
{
    state_change(script_channel_states, channel->state, state, "script %u", channel->number);
    channel->state = state;
}

static struct tool_asker script_channel_asker(const struct script_channel *channel)
{
    return (struct tool_asker){.environment = channel->environment,
                               .principal = channel->principal};
}

/* Calls */

static void script_call_count(struct script_channel *channel, int change)
{
    const bool was_pending = channel->pending_count > 0;

    channel->pending_count += (unsigned)change;
    if (was_pending != (channel->pending_count > 0) && channel->tools.pended)
        channel->tools.pended(channel->tools.data, !was_pending);
}

static struct script_call *script_call_new(struct invocation *invocation)
{
    struct script_offer *offer = invocation->data;
    struct script_call *call = NEW(struct script_call);

    call->offer = offer;
    call->invocation = invocation;
    call->began = clock_seconds();
    call->call = (struct source_call){
        .asker = script_channel_asker(offer->channel),
        .server = offer->server,
        .tool = offer->tool,
        .arguments = invocation->arguments,
    };
    list_append(&offer->channel->pending, &call->link);
    script_call_count(offer->channel, 1);
    return call;
}

/* Its invocation has ended, or will not hear of it. */
static void script_call_free(struct script_call *call)
{
    struct script_offer *offer = call->offer;

    offer->seconds += clock_seconds() - call->began;
    list_remove(&call->link);
    script_call_count(offer->channel, -1);
    free(call);
}

static void script_offer_fail(struct script_offer *offer, struct invocation *invocation,
                              enum tool_failure failure, const char *text)
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
    struct script_channel *channel = offer->channel;
    AUTO_FREE char *text = NULL;

    if (bytes > SCRIPT_RESULT_BYTES)
        text =
            memory_format("the result has %zu bytes, the limit is %d", bytes, SCRIPT_RESULT_BYTES);
    else if (channel->bytes + bytes > SCRIPT_RESULTS_BYTES)
        text = memory_format("all results of this run together have more than %d bytes",
                             SCRIPT_RESULTS_BYTES);
    if (text) {
        script_offer_fail(offer, invocation, TOOL_LIMITED, text);
        return false;
    }
    channel->bytes += bytes;
    offer->bytes += bytes;
    return true;
}

/* Puts RESULT (taken), a CallToolResult, into INVOCATION. Only its content counts. */
static void script_offer_take(struct script_offer *offer, struct invocation *invocation,
                              json_t *result)
{
    json_t *content = json_object_get(result, "content");
    json_t *structured = json_object_get(result, "structuredContent");

    if (script_offer_has_room(offer, json_dumpb(result, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY),
                              invocation)) {
        invocation->result.content = json_is_array(content) ? json_incref(content) : json_array();
        invocation->result.structured = json_is_null(structured) ? NULL : json_incref(structured);
        invocation->result.is_error = json_is_true(json_object_get(result, "isError"));
        offer->errors += invocation->result.is_error;
    }
    json_decref(result);
}

static void script_call_on_done(struct source_call *source_call, json_t *result,
                                enum tool_failure failure, const struct error *err)
{
    struct script_call *call = CONTAINER_OF(source_call, struct script_call, call);
    struct invocation *invocation = call->invocation;

    if (result)
        script_offer_take(call->offer, invocation, result);
    else
        script_offer_fail(call->offer, invocation, failure, err->message);
    script_call_free(call);
    invocation_finish(invocation);
}

static void script_call_on_progress(struct source_call *source_call, double progress, double total,
                                    const char *message)
{
    struct invocation *invocation = CONTAINER_OF(source_call, struct script_call, call)->invocation;

    if (invocation->wants_progress)
        invocation->progress(invocation, progress, total, message);
}

/* NULL: INVOCATION may become a call; else the reason why not. */
static const char *script_offer_refusal(const struct script_offer *offer,
                                        enum tool_failure *ret_failure)
{
    const struct script_channel *channel = offer->channel;

    *ret_failure = TOOL_LIMITED;
    if (channel->made >= SCRIPT_CALLS)
        return "this run has made 100 calls, which is the limit";
    if (channel->pending_count >= SCRIPT_CALLS_AT_ONCE)
        return "8 calls of this run are pending, which is the limit";
    *ret_failure = TOOL_DENIED;
    return channel->has_turn ? NULL : "no code of this session is at work";
}

static enum outcome script_call_begin(struct script_offer *offer, struct invocation *invocation)
{
    const struct tool_source *source = offer->channel->channels->source;
    struct script_call *call = script_call_new(invocation);
    enum tool_failure failure = TOOL_UNAVAILABLE;
    struct error err = ERROR_INIT;
    json_t *result = NULL;
    enum outcome outcome;

    call->call.done = script_call_on_done;
    call->call.progress = script_call_on_progress;
    outcome = source->ops->call((struct tool_source *)source, &call->call, &result, &failure, &err);
    invocation->work = call;
    if (outcome == OUTCOME_PENDING)
        return OUTCOME_PENDING;
    if (outcome == OUTCOME_READY)
        script_offer_take(offer, invocation, result);
    else
        script_offer_fail(offer, invocation, failure, err.message);
    script_call_free(call);
    return OUTCOME_READY;
}

static enum outcome script_offer_start(struct invocation *invocation, struct error *err)
{
    struct script_offer *offer = invocation->data;
    enum tool_failure failure;
    const char *refusal = script_offer_refusal(offer, &failure);

    (void)err;
    offer->calls++;
    if (refusal) {
        script_offer_fail(offer, invocation, failure, refusal);
        return OUTCOME_READY;
    }
    offer->channel->made++;
    return script_call_begin(offer, invocation);
}

static void script_call_withdraw(struct script_call *call)
{
    struct tool_source *source = call->offer->channel->channels->source;

    source->ops->cancel_call(source, &call->call);
    call->offer->errors++;
}

static void script_offer_cancel(struct invocation *invocation)
{
    struct script_call *call = invocation->work;

    script_call_withdraw(call);
    script_call_free(call);
}

/* The offer */

static void script_offer_free(struct script_offer *offer)
{
    list_remove(&offer->link);
    free(offer->name);
    free(offer->server);
    free(offer);
}

/* An upstream may have a schema that cannot be compiled: its tool takes any arguments then, and
 * checks them itself. */
static int script_offer_register(struct script_offer *offer, const json_t *definition,
                                 struct error *err)
{
    json_t *schema = json_object_get(definition, "inputSchema");
    json_t *output = json_object_get(definition, "outputSchema");
    struct tool tool = {
        .name = offer->name,
        .description = json_object_get_string(definition, "description"),
        .input_schema = json_incref(schema),
        .output_schema = json_incref(output),
        .annotations = json_incref(json_object_get(definition, "annotations")),
        .data = offer,
        .start = script_offer_start,
        .cancel = script_offer_cancel,
    };
    struct error first = ERROR_INIT;

    if (tool_register_function(offer->channel->registry, &tool, &first) == 0)
        return 0;
    tool.input_schema = json_pack("{s:s}", "type", "object");
    tool.output_schema = NULL;
    tool.annotations = NULL;
    return tool_register_function(offer->channel->registry, &tool, err);
}

/* A tool whose name or texts are no good is left out. */
static void script_channel_offer(struct script_channel *channel, const json_t *definition)
{
    const char *server = json_object_get_string(definition, "server");
    const char *tool = json_object_get_string(definition, "name");
    struct error err = ERROR_INIT;
    struct script_offer *offer;

    if (!server || !tool)
        return;
    offer = NEW(struct script_offer);
    offer->channel = channel;
    offer->server = memory_copy_string(server);
    offer->name = memory_format("%s.%s", server, tool);
    offer->tool = offer->name + strlen(server) + 1;
    list_append(&channel->offers, &offer->link);
    if (script_offer_register(offer, definition, &err) == 0)
        return;
    log_info("a tool is not offered to scripts: %s", err.message);
    script_offer_free(offer);
}

/* Serving */

/* Cancels what is pending, and closes our end. Not below a call from the stream. */
static void script_channel_stop_serving(struct script_channel *channel)
{
    ev_timer_stop(channel->channels->loop, &channel->settling);
    stream_deinit(&channel->stream);
    mcp_server_stop(&channel->server);
    mcp_server_deinit(&channel->server);
    registry_free(channel->registry);
    script_channel_set_state(channel, SCRIPT_OVER);
}

static void script_channel_on_settling(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct script_channel *channel = CONTAINER_OF(timer, struct script_channel, settling);

    (void)loop;
    (void)events;
    if (stream_settle(&channel->stream))
        script_channel_stop_serving(channel);
}

static void script_channel_on_leaving(struct stream *stream)
{
    struct script_channel *channel = CONTAINER_OF(stream, struct script_channel, stream);

    ev_timer_start(channel->channels->loop, &channel->settling);
}

static void script_channel_make_server(struct script_channel *channel, const json_t *tools)
{
    const json_t *definition;
    size_t i;

    channel->registry = registry_new();
    json_array_foreach (tools, i, definition)
        script_channel_offer(channel, definition);
    channel->server = (struct mcp_server){
        .loop = channel->channels->loop,
        .registry = channel->registry,
        .name = "tools",
        .version = PYEXECD_VERSION,
    };
    mcp_server_init(&channel->server);
}

static void script_channel_serve(struct script_channel *channel, json_t *tools /* taken */)
{
    script_channel_set_state(channel, SCRIPT_SERVING);
    script_channel_make_server(channel, tools);
    json_decref(tools);
    channel->limits = transport_default_limits;
    channel->limits.line_bytes = SCRIPT_LINE_BYTES;
    channel->limits.unsent_bytes = SCRIPT_RESULT_BYTES;
    channel->limits.stall_seconds = SCRIPT_STALL_SECONDS;
    stream_init(&channel->stream, &(struct stream_settings){
                                      .loop = channel->channels->loop,
                                      .server = &channel->server,
                                      .limits = &channel->limits,
                                      .principal = channel->principal,
                                      .what = "script",
                                      .number = channel->number,
                                      .messages = SCRIPT_MESSAGES,
                                      .bytes = SCRIPT_SENT_BYTES,
                                      .in = channel->end,
                                      .out = channel->end,
                                      .grace_seconds = SCRIPT_STALL_SECONDS,
                                      .leaving = script_channel_on_leaving,
                                  });
    channel->end = -1;
}

static void script_channel_on_listed(struct tool_listing *listing, json_t *tools)
{
    script_channel_serve(CONTAINER_OF(listing, struct script_channel, listing), tools);
}

static void script_channel_on_first(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct script_channel *channel = CONTAINER_OF(watcher, struct script_channel, first);
    struct tool_source *source = channel->channels->source;
    json_t *tools = NULL;

    ev_io_stop(loop, watcher);
    if (events & EV_ERROR) {
        log_warning("script %u has no tools: its socket cannot be watched", channel->number);
        close(STEAL_FD(channel->end));
        return;
    }
    channel->listing = (struct tool_listing){
        .asker = script_channel_asker(channel),
        .done = script_channel_on_listed,
    };
    if (source->ops->list(source, &channel->listing, &tools) == OUTCOME_READY)
        script_channel_serve(channel, tools);
    else
        script_channel_set_state(channel, SCRIPT_LISTING);
}

/* The turns of a script */

static struct script_channel *script_channel_of(struct script_tools *tools)
{
    return CONTAINER_OF(tools, struct script_channel, tools);
}

static void script_channel_begin(struct script_tools *tools)
{
    struct script_channel *channel = script_channel_of(tools);

    channel->has_turn = true;
    channel->made = 0;
    channel->bytes = 0;
    if (channel->state == SCRIPT_SERVING)
        channel->stream.served = channel->stream.received = 0;
    LIST_FOR_EACH (&channel->offers, link) {
        struct script_offer *offer = CONTAINER_OF(link, struct script_offer, link);

        offer->calls = offer->errors = 0;
        offer->seconds = 0;
        offer->bytes = 0;
    }
}

/* The script may be there still, and is told. */
static void script_channel_cancel_pending(struct script_channel *channel)
{
    LIST_FOR_EACH_SAFE (&channel->pending, link) {
        struct script_call *call = CONTAINER_OF(link, struct script_call, link);
        struct invocation *invocation = call->invocation;

        script_call_withdraw(call);
        script_offer_fail(call->offer, invocation, TOOL_UNAVAILABLE, "its code has ended");
        call->offer->errors--;
        script_call_free(call);
        invocation_finish(invocation);
    }
}

/* NULL: there were no calls. New reference. */
static json_t *script_channel_account(const struct script_channel *channel)
{
    json_t *account = json_object();

    LIST_FOR_EACH (&channel->offers, link) {
        const struct script_offer *offer = CONTAINER_OF(link, const struct script_offer, link);

        if (offer->calls > 0)
            json_object_set_new(account, offer->name,
                                json_pack("{s:I, s:I, s:f, s:I}", "calls", (json_int_t)offer->calls,
                                          "errors", (json_int_t)offer->errors, "seconds",
                                          round(offer->seconds * 1e6) / 1e6, "bytes",
                                          (json_int_t)offer->bytes));
    }
    if (json_object_size(account) > 0)
        return account;
    json_decref(account);
    return NULL;
}

static json_t *script_channel_end(struct script_tools *tools)
{
    struct script_channel *channel = script_channel_of(tools);

    if (!channel->has_turn)
        return NULL;
    channel->has_turn = false;
    script_channel_cancel_pending(channel);
    return script_channel_account(channel);
}

static void script_channel_free(struct script_tools *tools)
{
    struct script_channel *channel = script_channel_of(tools);
    struct tool_source *source = channel->channels->source;

    channel->tools.pended = NULL;
    if (channel->state == SCRIPT_LISTING)
        source->ops->cancel_list(source, &channel->listing);
    if (channel->state == SCRIPT_SERVING)
        script_channel_stop_serving(channel);
    LIST_FOR_EACH_SAFE (&channel->offers, link) {
        script_offer_free(CONTAINER_OF(link, struct script_offer, link));
    }
    ev_io_stop(channel->channels->loop, &channel->first);
    if (channel->end >= 0)
        close(channel->end);
    close(channel->tools.descriptor);
    free(channel->principal);
    free(channel);
}

struct script_tools *script_channel_open(void *data, const struct environment *environment,
                                         const char *principal)
{
    struct script_channels *channels = data;
    static const struct script_tools_ops ops = {
        .begin = script_channel_begin,
        .end = script_channel_end,
        .free = script_channel_free,
    };
    const struct tool_asker asker = {.environment = environment, .principal = principal};
    struct script_channel *channel;
    int ends[2];

    if (!channels->source || environment_isolation(environment) == ISOLATION_DOCKER ||
        !channels->source->ops->has_any(channels->source, &asker) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return NULL;
    channel = NEW(struct script_channel);
    channel->tools = (struct script_tools){.ops = &ops, .descriptor = ends[1]};
    channel->channels = channels;
    channel->environment = environment;
    channel->principal = memory_copy_string(principal);
    channel->number = ++channels->opened;
    channel->end = ends[0];
    list_init(&channel->offers);
    list_init(&channel->pending);
    ev_io_init(&channel->first, script_channel_on_first, channel->end, EV_READ);
    ev_io_start(channels->loop, &channel->first);
    ev_timer_init(&channel->settling, script_channel_on_settling, 0., SCRIPT_SETTLE_SECONDS);
    return &channel->tools;
}
