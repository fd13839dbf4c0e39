#include "environments/nodes/node_link.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/state.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_LINK_MERCY_SECONDS  15.  /* as much as for its silence */
#define NODE_LINK_RETURN_SECONDS 600. /* for the files of a killed script */
#define NODE_GREETING            "pyexecd wire "

enum {
    NODE_TRIALS = 8,
    NODE_FOREIGN_BYTES = 200, /* shown of the output of a launcher */
    NODE_HOST_BYTES = 64,
};

static const struct state node_link_states[] = {
    [NODE_LINK_LAUNCHING] = {"launching", 1 << NODE_LINK_GREETING | 1 << NODE_LINK_LEAVING},
    [NODE_LINK_GREETING] = {"greeting", 1 << NODE_LINK_FREE | 1 << NODE_LINK_LEAVING},
    [NODE_LINK_FREE] = {"free", 1 << NODE_LINK_TAKEN | 1 << NODE_LINK_LEAVING},
    [NODE_LINK_TAKEN] = {"taken",
                         1 << NODE_LINK_FREE | 1 << NODE_LINK_EMPTYING | 1 << NODE_LINK_LEAVING},
    [NODE_LINK_EMPTYING] = {"emptying", 1 << NODE_LINK_FREE | 1 << NODE_LINK_LEAVING},
    [NODE_LINK_LEAVING] = {"leaving", 0},
};

static void node_link_set_state(struct node_link *node, enum node_link_state state)
{
    state_change(node_link_states, node->state, state, "node %s", node->name);
    node->state = state;
    ev_timer_stop(node->loop, &node->idle);
    if (state != NODE_LINK_FREE)
        return;
    ev_now_update(node->loop);
    ev_timer_set(&node->idle, node->idle_seconds, 0.);
    ev_timer_start(node->loop, &node->idle);
}

/* Its end */

static void node_link_begin_end(struct node_link *node, bool is_urgent)
{
    node_link_set_state(node, NODE_LINK_LEAVING);
    ev_timer_stop(node->loop, &node->mercy);
    trial_file_remove(&node->trial);
    node_wire_close(&node->wire);
    node_launcher_end(&node->launcher, is_urgent);
}

/* The pool may give its stay something else to do. */
static void node_link_lose(struct node_link *node, bool is_urgent)
{
    node_link_begin_end(node, is_urgent);
    log_info("node %s is lost: %s", node->name, node->why);
    node->lost(node, node->why);
}

void node_link_end(struct node_link *node)
{
    if (node->state == NODE_LINK_LEAVING)
        return;
    if (node->stay) {
        snprintf(node->why, sizeof node->why, "%s", "the server ends");
        node_link_lose(node, false);
    } else {
        node_link_begin_end(node, node->state == NODE_LINK_LAUNCHING);
    }
}

/* Its launcher tells why, if it ends soon. */
static void node_link_on_wire_ended(struct node_wire *wire, const char *why)
{
    struct node_link *node = CONTAINER_OF(wire, struct node_link, wire);

    if (*why) {
        if (why != node->why)
            snprintf(node->why, sizeof node->why, "%s", why);
        node_link_lose(node, true);
    } else {
        node_launcher_end(&node->launcher, false);
    }
}

static void node_link_on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct node_link *node = CONTAINER_OF(timer, struct node_link, idle);

    (void)loop;
    (void)events;
    log_info("node %s: nobody has used it for %g seconds", node->name, node->idle_seconds);
    node_link_end(node);
}

/* Gives up a node that lives but does not answer: its caller would wait for ever. */
static void node_link_on_mercy(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct node_link *node = CONTAINER_OF(timer, struct node_link, mercy);

    (void)loop;
    (void)events;
    if (node->has_extended)
        node_wire_fail(&node->wire, "it has not ended in 10 minutes what it was to kill");
    else if (node->state != NODE_LINK_GREETING)
        node_wire_fail(&node->wire, "it has not ended in 15 seconds what it was to kill");
    else if (node->has_copies)
        node_wire_fail(&node->wire, "it has not said in 15 seconds whether it is ready");
    else
        node_wire_fail(&node->wire, "it has not looked for the server's files in 15 seconds");
}

static void node_link_set_mercy(struct node_link *node, double seconds)
{
    ev_now_update(node->loop);
    ev_timer_stop(node->loop, &node->mercy);
    ev_timer_set(&node->mercy, seconds, 0.);
    ev_timer_start(node->loop, &node->mercy);
}

static void node_link_begin_mercy(struct node_link *node)
{
    if (ev_is_active(&node->mercy))
        return;
    node->has_extended = false;
    node_link_set_mercy(node, NODE_LINK_MERCY_SECONDS);
}

/* A tree that was to be killed is dead, and its files come. They have their time once. */
static void node_link_extend_mercy(struct node_link *node)
{
    if (!ev_is_active(&node->mercy) || node->has_extended)
        return;
    node->has_extended = true;
    node_link_set_mercy(node, NODE_LINK_RETURN_SECONDS);
}

/* Its launcher */

bool node_link_is_starting(const struct node_link *node)
{
    return node->state < NODE_LINK_FREE;
}

static void node_link_on_said(struct last_lines *lines, const char *line)
{
    struct node_launcher *launcher = CONTAINER_OF(lines, struct node_launcher, lines);
    struct node_link *node = CONTAINER_OF(launcher, struct node_link, launcher);

    log_info("node %s says: %s", node->name, line);
    if (node_link_is_starting(node))
        node->said(node, line);
}

static void node_link_on_launcher_ended(struct node_launcher *launcher)
{
    struct node_link *node = CONTAINER_OF(launcher, struct node_link, launcher);
    const char *said = launcher->lines.kept;

    if (node->state != NODE_LINK_LEAVING)
        node_wire_drain(&node->wire);
    if (node->state == NODE_LINK_LEAVING) {
        node->gone(node);
        return;
    }
    if (!node->why[0])
        snprintf(node->why, sizeof node->why, "its launcher %s%s%s", launcher->how,
                 *said ? ":\n" : "", said);
    node_link_lose(node, false);
    node->gone(node);
}

/* The launcher prints no hello: its shell greets, or it is another program. */
static void node_link_on_foreign(struct node_wire *wire, const char *data, size_t length)
{
    struct node_link *node = CONTAINER_OF(wire, struct node_link, wire);
    AUTO_FREE char *text = memory_format("%.*s", (int)size_min(length, NODE_FOREIGN_BYTES), data);

    printable_clean_lines(text);
    if (!node->why[0])
        snprintf(node->why, sizeof node->why, "%s%s",
                 strncmp(text, NODE_GREETING, strlen(NODE_GREETING)) == 0
                     ? "its pyexecd is of another version than this one: install the same on both: "
                     : "its launcher printed something before `pyexecd node` could: ",
                 text);
    node_wire_fail(wire, node->why);
}

/* The greeting */

static void node_link_refuse(struct node_link *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void node_link_refuse(struct node_link *node, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(node->why, sizeof node->why, format, arguments);
    va_end(arguments);
    printable_clean_lines(node->why);
    node_wire_fail(&node->wire, node->why);
}

static void node_link_try(struct node_link *node)
{
    struct error err = ERROR_INIT;

    if (trial_file_make(&node->trial, node->place, &err) < 0) {
        node_link_refuse(node, "%s", err.message);
        return;
    }
    node->trials++;
    node_wire_tell(&node->wire, NODE_HELLO, 0,
                   json_pack("{s:i, s:b, s:s, s:s}", "protocol", NODE_PROTOCOL, "is_best_effort",
                             node->is_best_effort, "trial", node->trial.path, "content",
                             node->trial.content));
}

/* A node that gets copies finds nothing of the server's. */
static void node_link_greet(struct node_link *node)
{
    if (node->has_copies)
        node_wire_tell(&node->wire, NODE_HELLO, 0,
                       json_pack("{s:i, s:b, s:b}", "protocol", NODE_PROTOCOL, "is_best_effort",
                                 node->is_best_effort, "has_copies", true));
    else
        node_link_try(node);
}

/* Where scripts work at the place itself, one of them may have spoilt the file. */
static void node_link_on_fault(struct node_link *node, const char *fault)
{
    const bool is_whole = node->has_copies || trial_file_is_whole(&node->trial);

    trial_file_remove(&node->trial);
    if (is_whole)
        node_link_refuse(node, "%s", fault);
    else if (node->trials < NODE_TRIALS)
        node_link_try(node);
    else
        node_link_refuse(node,
                         "somebody spoils the files in %s by which it is to show that it has "
                         "the server's working directories",
                         node->place);
}

static void node_link_on_hello(struct node_link *node, const json_t *message)
{
    const json_int_t protocol = json_integer_value(json_object_get(message, "protocol"));
    AUTO_FREE char *host = memory_format("%.*s", NODE_HOST_BYTES,
                                         text_or_none(json_object_get_string(message, "host")));

    if (protocol != NODE_PROTOCOL) {
        node_link_refuse(node,
                         "its pyexecd speaks another protocol (%d) than this one (%d): install the "
                         "same version on both",
                         (int)protocol, NODE_PROTOCOL);
        return;
    }
    printable_clean(host);
    node->title = json_string_format("%s (%s)", node->name, host);
    node_link_set_state(node, NODE_LINK_GREETING);
    node_wire_start_heart(&node->wire);
    node_link_begin_mercy(node);
    node_link_greet(node);
}

static void node_link_on_ready(struct node_link *node, const json_t *message)
{
    const char *fault = json_object_get_string(message, "fault");

    if (fault) {
        node_link_on_fault(node, fault);
        return;
    }
    trial_file_remove(&node->trial);
    ev_timer_stop(node->loop, &node->mercy);
    log_info("node %s is up: %s", node->name, json_string_value(node->title));
    node_link_set_state(node, NODE_LINK_FREE);
    node->freed(node);
}

/* Its frames */

static void node_link_on_own_frame(struct node_link *node, enum node_frame type, const char *data,
                                   size_t length)
{
    AUTO_JSON json_t *message = json_loadb(data, length, 0, NULL);

    if (type == NODE_HELLO && node->state == NODE_LINK_LAUNCHING)
        node_link_on_hello(node, message);
    else if (type == NODE_READY && node->state == NODE_LINK_GREETING)
        node_link_on_ready(node, message);
    else
        node_link_refuse(node, "%s", "it says what was not asked");
}

static void node_link_on_frame(struct node_wire *wire, enum node_frame type, uint32_t channel,
                               const char *data, size_t length)
{
    struct node_link *node = CONTAINER_OF(wire, struct node_link, wire);
    struct node_stay *stay = node->stay;

    if (channel == 0) {
        node_link_on_own_frame(node, type, data, length);
        return;
    }
    if (channel != node->channel || (!node->is_open && type != NODE_ECHO))
        return; /* it was said before the node knew that the channel is over */
    if (type == NODE_RETURN)
        node_link_extend_mercy(node);
    if (type == NODE_ENDED) {
        node->is_open = false;
        ev_timer_stop(node->loop, &node->mercy);
    }
    if (stay) {
        stay->frame(stay, type, data, length);
    } else if (type == NODE_ENDED) {
        node_link_set_state(node, NODE_LINK_FREE);
        node->freed(node);
    }
}

/* Its stays */

bool node_link_is_free(const struct node_link *node)
{
    return node->state == NODE_LINK_FREE && !node->wire.is_over;
}

void node_link_grant(struct node_link *node, struct node_stay *stay)
{
    node_link_set_state(node, NODE_LINK_TAKEN);
    node->stay = stay;
    node->channel++;
    node->is_open = false;
    stay->node = node;
}

void node_link_leave(struct node_stay *stay)
{
    struct node_link *node = STEAL_PTR(stay->node);

    node->stay = NULL;
    if (node->state != NODE_LINK_TAKEN)
        return;
    if (node->is_open) {
        node_wire_send(&node->wire, NODE_KILL, node->channel, NULL, 0);
        node_link_begin_mercy(node);
        node_link_set_state(node, NODE_LINK_EMPTYING);
        return;
    }
    node_link_set_state(node, NODE_LINK_FREE);
    node->freed(node);
}

bool node_stay_introduces(struct node_stay *stay, uint32_t environment)
{
    struct node_link *node = stay->node;

    for (size_t i = 0; i < node->known_count; i++)
        if (node->known[i] == environment)
            return false;
    node->known = memory_resize(node->known, (node->known_count + 1) * sizeof *node->known);
    node->known[node->known_count++] = environment;
    return true;
}

void node_stay_send(struct node_stay *stay, enum node_frame type, const char *data, size_t length)
{
    stay->node->is_open |= type == NODE_START || type == NODE_PREPARE;
    node_wire_send(&stay->node->wire, type, stay->node->channel, data, length);
    if (type == NODE_KILL)
        node_link_begin_mercy(stay->node);
}

void node_stay_tell(struct node_stay *stay, enum node_frame type, json_t *message)
{
    AUTO_FREE char *text = json_text(message);

    json_decref(message);
    node_stay_send(stay, type, text, strlen(text));
}

void node_stay_give_credit(struct node_stay *stay, size_t length)
{
    node_wire_give_credit(&stay->node->wire, stay->node->channel, length);
}

const json_t *node_stay_title(const struct node_stay *stay)
{
    return stay->node ? stay->node->title : NULL;
}

/* Its beginning */

int node_link_start(struct node_link *node, const char *const *command, struct error *err)
{
    int in;
    int out;

    node->launcher.loop = node->loop;
    node->launcher.lines.said = node_link_on_said;
    node->launcher.ended = node_link_on_launcher_ended;
    node->wire = (struct node_wire){
        .loop = node->loop,
        .frame = node_link_on_frame,
        .foreign = node_link_on_foreign,
        .ended = node_link_on_wire_ended,
        .in = -1,
        .out = -1,
    };
    ev_timer_init(&node->idle, node_link_on_idle, 0., 0.);
    ev_timer_init(&node->mercy, node_link_on_mercy, 0., 0.);
    if (node_launcher_start(&node->launcher, command, &in, &out, err) < 0)
        return -1;
    node_wire_open(&node->wire, in, out);
    node_wire_greet(&node->wire);
    return 0;
}

void node_link_deinit(struct node_link *node)
{
    json_decref(node->title);
    free(node->known);
}
