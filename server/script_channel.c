#include "server/script_channel.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/environment.h"
#include "server/mcp/server.h"
#include "server/script_calls.h"
#include "server/tools/caller.h"
#include "server/tools/registry.h"
#include "server/transport/stream.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRIPT_STALL_SECONDS  60. /* for a script to take any of its answers */
#define SCRIPT_LIST_SECONDS   50. /* for servers of tools to start; the script waits a minute */
#define SCRIPT_FAR_SECONDS    5.  /* for those over HTTP to answer */
#define SCRIPT_SETTLE_SECONDS 0.05

enum script_channel_state { SCRIPT_CLOSED, SCRIPT_LISTING, SCRIPT_SERVING, SCRIPT_OVER };

static const struct state script_channel_states[] = {
    [SCRIPT_CLOSED] = {"closed", 1 << SCRIPT_LISTING | 1 << SCRIPT_SERVING},
    [SCRIPT_LISTING] = {"listing", 1 << SCRIPT_SERVING},
    [SCRIPT_SERVING] = {"serving", 1 << SCRIPT_OVER},
    [SCRIPT_OVER] = {"over", 0},
};

struct script_channel {
    struct script_tools tools;
    struct script_channels *channels; /* borrowed */
    char *principal;                  /* owned */
    unsigned number;                  /* in the log */
    enum script_channel_state state;
    int end;     /* owned: ours; -1: the stream has it */
    ev_io first; /* the script writes */
    struct tool_survey survey;
    struct registry *registry; /* owned, as all below, when it is SERVING */
    struct mcp_server server;
    struct transport_limits limits;
    struct stream stream;
    ev_timer settling; /* the stream is leaving */
    struct script_calls calls;
};

static void script_channel_set_state(struct script_channel *channel,
                                     enum script_channel_state state)
{
    state_change(script_channel_states, channel->state, state, "script %u", channel->number);
    channel->state = state;
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

static void script_channel_make_server(struct script_channel *channel)
{
    channel->registry = registry_new();
    script_calls_offer(&channel->calls, channel->registry, &channel->survey);
    channel->server = (struct mcp_server){
        .loop = channel->channels->loop,
        .registry = channel->registry,
        .name = "tools",
        .version = PYEXECD_VERSION,
    };
    mcp_server_init(&channel->server);
}

static void script_channel_serve(struct script_channel *channel)
{
    script_channel_set_state(channel, SCRIPT_SERVING);
    script_channel_make_server(channel);
    tool_survey_deinit(&channel->survey);
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

static void script_channel_on_surveyed(struct tool_survey *survey)
{
    struct script_channel *channel = CONTAINER_OF(survey, struct script_channel, survey);

    script_channel_serve(channel);
    script_calls_set_listing(&channel->calls, false);
}

static void script_channel_on_first(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct script_channel *channel = CONTAINER_OF(watcher, struct script_channel, first);
    const struct tool_reach reach = script_calls_reach(&channel->calls);

    ev_io_stop(loop, watcher);
    if (events & EV_ERROR) {
        log_warning("script %u has no tools: its socket cannot be watched", channel->number);
        close(STEAL_FD(channel->end));
        return;
    }
    channel->survey = (struct tool_survey){
        .timeout = SCRIPT_LIST_SECONDS,
        .far_timeout = SCRIPT_FAR_SECONDS,
        .done = script_channel_on_surveyed,
    };
    if (toolbox_survey(channel->channels->toolbox, &reach, &channel->survey) == OUTCOME_READY) {
        script_channel_serve(channel);
        return;
    }
    script_channel_set_state(channel, SCRIPT_LISTING);
    script_calls_set_listing(&channel->calls, true);
}

/* The turns of a script */

static struct script_channel *script_channel_of(struct script_tools *tools)
{
    return CONTAINER_OF(tools, struct script_channel, tools);
}

static void script_channel_begin(struct script_tools *tools, struct script_sender *sender)
{
    struct script_channel *channel = script_channel_of(tools);

    if (channel->state == SCRIPT_SERVING)
        channel->stream.served = channel->stream.received = 0;
    script_calls_begin(&channel->calls, sender);
}

static void script_channel_interrupt(struct script_tools *tools)
{
    script_calls_interrupt(&script_channel_of(tools)->calls);
}

static json_t *script_channel_end(struct script_tools *tools)
{
    return script_calls_end(&script_channel_of(tools)->calls);
}

static void script_channel_free(struct script_tools *tools)
{
    struct script_channel *channel = script_channel_of(tools);

    channel->tools.waits = NULL;
    if (channel->state == SCRIPT_LISTING)
        tool_survey_deinit(&channel->survey);
    if (channel->state == SCRIPT_SERVING)
        script_channel_stop_serving(channel);
    script_calls_deinit(&channel->calls);
    ev_io_stop(channel->channels->loop, &channel->first);
    if (channel->end >= 0)
        close(channel->end);
    close(channel->tools.descriptor);
    free(channel->principal);
    free(channel);
}

static struct script_channel *script_channel_new(struct script_channels *channels,
                                                 const int ends[2], const char *principal)
{
    static const struct script_tools_ops ops = {
        .begin = script_channel_begin,
        .interrupt = script_channel_interrupt,
        .end = script_channel_end,
        .free = script_channel_free,
    };
    struct script_channel *channel = NEW(struct script_channel);

    channel->tools = (struct script_tools){.ops = &ops, .descriptor = ends[1]};
    channel->channels = channels;
    channel->principal = memory_copy_string(principal);
    channel->number = ++channels->opened;
    channel->end = ends[0];
    ev_io_init(&channel->first, script_channel_on_first, channel->end, EV_READ);
    ev_io_start(channels->loop, &channel->first);
    ev_timer_init(&channel->settling, script_channel_on_settling, 0., SCRIPT_SETTLE_SECONDS);
    return channel;
}

struct script_tools *script_channel_open(void *data, const struct environment *environment,
                                         const struct principal *principal)
{
    struct script_channels *channels = data;
    struct script_calls calls = {
        .toolbox = channels->toolbox,
        .environment = environment,
        .principal = principal->name,
        .limits = principal->limits,
    };
    struct script_channel *channel;
    int ends[2];

    if (environment_lacks_tools(environment) || !script_calls_are_possible(&calls) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return NULL;
    channel = script_channel_new(channels, ends, principal->name);
    calls.principal = channel->principal;
    calls.tools = &channel->tools;
    channel->calls = calls;
    script_calls_init(&channel->calls);
    return &channel->tools;
}

json_t *script_channels_know(void *data, const struct environment *environment,
                             const struct principal *principal)
{
    const struct script_channels *channels = data;

    return tool_catalog_find(&channels->catalog, environment, principal);
}
