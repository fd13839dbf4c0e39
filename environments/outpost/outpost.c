#include "environments/outpost/outpost.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/untrusted.h"
#include "environments/outpost/outpost_private.h"
#include "environments/workplace/working_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPOST_ROOT             "once"
#define OUTPOST_PATIENCE_SECONDS 5. /* a machine so busy is assumed to have all layers */

enum {
    OUTPOST_TRIAL_BYTES = 256,
    OUTPOST_HOST_BYTES = 256,
};

/* The greeting */

static char *outpost_explain_fault(const char *found, const struct error *err)
{
    if (err->number == EACCES || err->number == EPERM)
        return memory_format("it runs as user %u there, who may not read the server's working "
                             "directories: let the launcher log in as the server's user: %s",
                             geteuid(), err->message);
    return memory_format("it does not have the server's working directories, which `files: shared` "
                         "promises (mount them at the same path, or set working_directory to a "
                         "place of both): %s",
                         found ? "it has other files at their place" : err->message);
}

/* Both machines have the same working directories if this one has the file that the server has just
 * made in their place. Owned by the caller, or NULL. */
static char *outpost_find_fault(const char *trial, const char *content)
{
    struct error err = ERROR_INIT;
    size_t length;
    AUTO_FREE char *found = untrusted_read(AT_FDCWD, trial, OUTPOST_TRIAL_BYTES, &length, &err);

    return found && strcmp(found, content) == 0 ? NULL : outpost_explain_fault(found, &err);
}

/* The place of directories that no run comes back to: a killed node's are swept. Owned by the
 * caller, or NULL. */
static char *outpost_open_workplace(struct outpost *outpost)
{
    AUTO_FREE char *root = memory_format("%s/" OUTPOST_ROOT, outpost->settings.state);
    struct error err = ERROR_INIT;

    outpost->workplace = workplace_new(
        &(struct workplace_settings){.loop = outpost->settings.host.loop, .root = root}, &err);
    return outpost->workplace ? NULL : memory_copy_string(err.message);
}

static char *outpost_find_files(struct outpost *outpost, const json_t *message)
{
    if (json_is_true(json_object_get(message, "has_copies")))
        return outpost_open_workplace(outpost);
    return outpost_find_fault(text_or_none(json_object_get_string(message, "trial")),
                              text_or_none(json_object_get_string(message, "content")));
}

/* Owned by the caller, or NULL. */
static char *outpost_open_host(struct outpost *outpost, bool is_best_effort)
{
    struct process_host_settings settings = outpost->settings.host;
    struct error err = ERROR_INIT;

    settings.policy = (struct process_policy){
        .wanted = LAYERS_OF_TREES | LAYERS_OF_SANDBOX,
        .required = is_best_effort ? 0 : LAYERS_OF_TREES,
    };
    outpost->host = process_host_new(&settings, &err);
    return outpost->host ? NULL : memory_copy_string(err.message);
}

static void outpost_end_trying(struct outpost *outpost)
{
    ev_prepare_stop(outpost->settings.host.loop, &outpost->trying);
    ev_timer_stop(outpost->settings.host.loop, &outpost->patience);
}

static void outpost_be_ready(struct outpost *outpost)
{
    outpost_end_trying(outpost);
    node_wire_tell(&outpost->wire, NODE_READY, 0, json_object());
}

static void outpost_on_trying(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct outpost *outpost = CONTAINER_OF(watcher, struct outpost, trying);

    (void)loop;
    (void)events;
    if (process_host_has_tried(outpost->host))
        outpost_be_ready(outpost);
}

static void outpost_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    outpost_be_ready(CONTAINER_OF(timer, struct outpost, patience));
}

/* The server delivers code as this machine can take it. */
static void outpost_begin_trying(struct outpost *outpost)
{
    ev_prepare_start(outpost->settings.host.loop, &outpost->trying);
    ev_now_update(outpost->settings.host.loop);
    ev_timer_start(outpost->settings.host.loop, &outpost->patience);
}

static void outpost_on_hello(struct outpost *outpost, const json_t *message)
{
    AUTO_FREE char *fault = NULL;

    if (json_integer_value(json_object_get(message, "protocol")) != NODE_PROTOCOL) {
        node_wire_fail(&outpost->wire, "its pyexecd speaks another protocol than this one");
        return;
    }
    fault = outpost_find_files(outpost, message);
    if (!fault)
        fault =
            outpost_open_host(outpost, json_is_true(json_object_get(message, "is_best_effort")));
    if (fault)
        node_wire_tell(&outpost->wire, NODE_READY, 0, json_pack("{s:s}", "fault", fault));
    else
        outpost_begin_trying(outpost);
}

static void outpost_greet(struct outpost *outpost)
{
    char host[OUTPOST_HOST_BYTES] = "";

    (void)gethostname(host, sizeof host - 1);
    node_wire_greet(&outpost->wire);
    node_wire_tell(
        &outpost->wire, NODE_HELLO, 0,
        json_pack("{s:i, s:o}", "protocol", NODE_PROTOCOL, "host", json_string_format("%s", host)));
}

/* Frames */

static void outpost_on_frame(struct node_wire *wire, enum node_frame type, uint32_t channel,
                             const char *data, size_t length)
{
    struct outpost *outpost = CONTAINER_OF(wire, struct outpost, wire);

    if (type == NODE_HELLO && !outpost->host) {
        AUTO_JSON json_t *message = json_loadb(data, length, 0, NULL);

        outpost_on_hello(outpost, message);
    } else if (!outpost->host) {
        node_wire_fail(wire, "it says something before its hello");
    } else if (type == NODE_ENVIRONMENT) {
        AUTO_JSON json_t *message = json_loadb(data, length, 0, NULL);

        outpost_place_add(outpost, message);
    } else if (type == NODE_ECHO) {
        node_wire_send(wire, NODE_ECHO, channel, data, length);
    } else if (type == NODE_PREPARE) {
        outpost_visit_prepare(outpost, channel, json_loadb(data, length, 0, NULL));
    } else if (type == NODE_START) {
        outpost_visit_start(outpost, channel, json_loadb(data, length, JSON_ALLOW_NUL, NULL));
    } else {
        outpost_visit_frame(outpost, type, channel, data, length);
    }
}

/* Its end */

static void outpost_on_wire_ended(struct node_wire *wire, const char *why)
{
    struct outpost *outpost = CONTAINER_OF(wire, struct outpost, wire);

    outpost->why = why;
    outpost_stop(outpost);
}

void outpost_stop(struct outpost *outpost)
{
    if (outpost->has_stopped)
        return;
    outpost->has_stopped = true;
    outpost_end_trying(outpost);
    outpost_visits_stop(outpost);
    recurrence_end(&outpost->recurrence);
    node_wire_close(&outpost->wire);
    outpost_places_stop(outpost);
    if (outpost->host)
        process_host_stop(outpost->host);
}

bool outpost_is_over(const struct outpost *outpost)
{
    return outpost->has_stopped && list_is_empty(&outpost->visits) &&
           outpost_places_are_idle(outpost) &&
           (!outpost->host || process_host_is_idle(outpost->host));
}

const char *outpost_why(const struct outpost *outpost)
{
    return outpost->why;
}

void outpost_free(struct outpost *outpost)
{
    outpost_places_free(outpost);
    workplace_free(outpost->workplace);
    if (outpost->host)
        process_host_free(outpost->host);
    free(outpost);
}

struct outpost *outpost_new(const struct outpost_settings *settings, int in, int out)
{
    struct outpost *outpost = NEW(struct outpost);

    outpost->settings = *settings;
    outpost->why = "";
    list_init(&outpost->places);
    list_init(&outpost->visits);
    recurrence_init(&outpost->recurrence);
    ev_prepare_init(&outpost->trying, outpost_on_trying);
    ev_timer_init(&outpost->patience, outpost_on_patience, OUTPOST_PATIENCE_SECONDS, 0.);
    outpost->wire = (struct node_wire){
        .loop = settings->host.loop,
        .ends_lines = true,
        .frame = outpost_on_frame,
        .ended = outpost_on_wire_ended,
    };
    node_wire_open(&outpost->wire, in, out);
    outpost_greet(outpost);
    node_wire_start_heart(&outpost->wire);
    return outpost;
}
