#include "environments/docker/tree.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/state.h"
#include "environments/docker/end.h"
#include "environments/docker/script_file.h"
#include "environments/docker/site.h"
#include "environments/engine/init_protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCKER_TREE_REST_SECONDS  0.05 /* a client has read its answer by then */
#define DOCKER_TREE_DRAIN_SECONDS 5.0  /* as for the output of a container */

enum { DOCKER_TREE_UNSENT = 8 << 20 }; /* more than a script has (PYTHON_CODE_BYTES) */

static const struct state docker_tree_states[] = {
    [DOCKER_TREE_NONE] = {"none", 1 << DOCKER_TREE_STARTING | 1 << DOCKER_TREE_LEAVING},
    [DOCKER_TREE_STARTING] = {"starting", 1 << DOCKER_TREE_WAITING | 1 << DOCKER_TREE_RUNNING |
                                              1 << DOCKER_TREE_NONE},
    [DOCKER_TREE_WAITING] = {"waiting", 1 << DOCKER_TREE_ASKED | 1 << DOCKER_TREE_NONE},
    [DOCKER_TREE_ASKED] = {"asked", 1 << DOCKER_TREE_RUNNING | 1 << DOCKER_TREE_NONE},
    [DOCKER_TREE_RUNNING] = {"running", 1 << DOCKER_TREE_NONE},
    [DOCKER_TREE_LEAVING] = {"leaving", 0},
};

static struct ev_loop *docker_tree_loop(const struct docker_tree *tree)
{
    return engine_loop(tree->site->engine);
}

static void docker_tree_set_state(struct docker_tree *tree, enum docker_tree_state state)
{
    state_change(docker_tree_states, tree->state, state, "script in container %s", tree->name);
    tree->state = state;
    ev_timer_stop(docker_tree_loop(tree), &tree->patience);
    if (state == DOCKER_TREE_ASKED)
        ev_timer_start(docker_tree_loop(tree), &tree->patience);
    if (state == DOCKER_TREE_RUNNING && tree->owner->began)
        tree->owner->began(tree->owner);
}

/* ---- what its init is told ---- */

static int docker_tree_pass_on(struct docker_tree *tree, const char *data, size_t length,
                               struct error *err)
{
    if (direct_streams_are_ready(&tree->streams))
        return direct_streams_tell(&tree->streams, data, length, err);
    if (container_send(&tree->container, data, length, err) < 0)
        return -1;
    return exec_send(&tree->exec, data, length, err);
}

/* Its init says hello to the server or to the engine, and is told everything there. */
int docker_tree_send(struct docker_tree *tree, const char *data, size_t length, struct error *err)
{
    if (direct_streams_are_offered(&tree->streams))
        return buffer_append(&tree->unsent, data, length, err);
    return docker_tree_pass_on(tree, data, length, err);
}

/* Its init has said hello. */
static void docker_tree_send_rest(struct docker_tree *tree)
{
    struct error ignored = ERROR_INIT;
    const size_t length = buffer_length(&tree->unsent);

    if (length == 0 || direct_streams_are_offered(&tree->streams))
        return;
    (void)docker_tree_pass_on(tree, buffer_bytes(&tree->unsent), length, &ignored);
    buffer_consume(&tree->unsent, length);
}

void docker_tree_give_tools(struct docker_tree *tree, int tools)
{
    tree->has_tools = tools > 0;
    if (tools > 0)
        direct_streams_give_tools(&tree->streams, tools);
}

bool docker_tree_needs_tools(const struct docker_tree *tree)
{
    return tree->has_tools && tree->site->has_sockets;
}

/* An init that does not take all of DATA gives no answer, and ends after a while. The buffer has
 * room for one script (PYTHON_CODE_BYTES). */
static void docker_tree_tell(struct docker_tree *tree, const char *data, size_t length)
{
    struct error ignored = ERROR_INIT;

    (void)docker_tree_send(tree, data, length, &ignored);
}

void docker_tree_dismiss(struct docker_tree *tree)
{
    if (tree->state == DOCKER_TREE_STARTING)
        tree->is_unwanted = true;
    else
        docker_tree_tell(tree, init_dismissal, WIRE_HEAD_BYTES);
}

static void docker_tree_send_go(struct docker_tree *tree)
{
    docker_tree_set_state(tree, DOCKER_TREE_ASKED);
    if (docker_tree_needs_tools(tree))
        docker_tree_tell(tree, init_tools, WIRE_HEAD_BYTES);
    docker_tree_tell(tree, tree->go->bytes, tree->go->length);
}

void docker_tree_ask(struct docker_tree *tree, const struct docker_go *go)
{
    tree->go = go;
    if (tree->state == DOCKER_TREE_STARTING)
        tree->ahead_seconds = clock_seconds() - tree->started_at;
    if (tree->state == DOCKER_TREE_WAITING)
        docker_tree_send_go(tree);
}

/* The engine may say so behind the last words. */
static void docker_tree_on_ready(struct docker_tree *tree)
{
    if (tree->state != DOCKER_TREE_STARTING)
        return;
    if (tree->awaits && !tree->go)
        tree->ahead_seconds = clock_seconds() - tree->started_at;
    docker_tree_set_state(tree, tree->awaits ? DOCKER_TREE_WAITING : DOCKER_TREE_RUNNING);
    if (tree->go)
        docker_tree_send_go(tree);
    else if (tree->is_unwanted)
        docker_tree_dismiss(tree);
}

/* ---- what it says ---- */

static void docker_tree_look(struct docker_tree *tree)
{
    if (tree->state == DOCKER_TREE_ASKED && tree->output.has_begun)
        docker_tree_set_state(tree, DOCKER_TREE_RUNNING);
    if (!tree->output.has_words)
        return;
    if (tree->owner->has_enough && tree->owner->has_enough(tree->owner, &tree->output.words))
        ev_feed_event(docker_tree_loop(tree), &tree->complete, EV_CUSTOM);
    else
        docker_tree_dismiss(tree);
}

static void docker_tree_hear(struct docker_tree *tree, enum frame_stream stream, const char *data,
                             size_t length)
{
    if (tree->state == DOCKER_TREE_LEAVING)
        return;
    docker_output_feed(&tree->output, stream, data, length);
    docker_tree_look(tree);
}

static void docker_tree_print(struct docker_tree *tree, enum frame_stream stream, const char *data,
                              size_t length)
{
    if (tree->state != DOCKER_TREE_LEAVING)
        docker_output_print(&tree->output, stream, data, length);
}

static void docker_tree_on_said(struct direct_streams *streams, const char *data, size_t length)
{
    struct docker_tree *tree = CONTAINER_OF(streams, struct docker_tree, streams);

    tree->site->has_sockets = true;
    tree->site->lacks_sockets = false;
    docker_tree_hear(tree, FRAME_STDOUT, data, length);
    docker_tree_send_rest(tree);
}

/* The engine has handed over output: its streams are used, unless the init has direct ones. Once an
 * init has connected, another that does not has met with an accident, or a script's intent. */
static void docker_tree_settle(struct docker_tree *tree)
{
    if (direct_streams_are_offered(&tree->streams)) {
        if (!tree->site->has_sockets)
            tree->site->lacks_sockets |= tree->output.reader.state == WIRE_OPEN;
        direct_streams_withdraw(&tree->streams);
    }
    docker_tree_send_rest(tree);
}

static void docker_tree_on_printed(struct direct_streams *streams, enum frame_stream stream,
                                   const char *data, size_t length)
{
    docker_tree_print(CONTAINER_OF(streams, struct docker_tree, streams), stream, data, length);
}

/* ---- the end ---- */

/* Without a go only the engine knows whether the program was executed, unless the init refuses. */
enum docker_tree_fate docker_tree_judge(const struct docker_tree *tree, bool is_whole)
{
    if (!tree->awaits && !tree->output.has_not_begun)
        return !tree->end.started && tree->end.status != 0 ? DOCKER_TREE_NEVER_BEGAN
                                                           : DOCKER_TREE_HAS_RUN;
    if (tree->output.has_begun)
        return DOCKER_TREE_HAS_RUN;
    if (tree->state < DOCKER_TREE_ASKED || tree->output.has_not_begun || is_whole)
        return DOCKER_TREE_NEVER_BEGAN;
    return DOCKER_TREE_WAS_LOST;
}

/* The script may have begun: it is not started a second time. */
static void docker_tree_explain_loss(struct docker_tree *tree)
{
    char *failure = tree->end.failure;
    AUTO_FREE char *reason = memory_copy_string(*failure ? failure : "its output has not ended");

    snprintf(
        failure, sizeof tree->end.failure,
        "the connection to the container was lost when the script was to begin, so it may have "
        "run or not: %.400s",
        reason);
}

/* The engine has said why nothing could begin: one line of bytes. */
static void docker_tree_quote(struct docker_tree *tree)
{
    const char *complaint = tree->output.complaint;

    snprintf(tree->end.failure, sizeof tree->end.failure, "%.*s", (int)strcspn(complaint, "\r\n"),
             complaint);
    printable_clean(tree->end.failure);
}

bool docker_tree_lacked_tools(const struct docker_tree *tree)
{
    return !tree->awaits && tree->output.has_not_begun;
}

static void docker_tree_finish(struct docker_tree *tree, const struct container_end *end,
                               bool is_whole)
{
    tree->end = *end;
    tree->fate = docker_tree_judge(tree, is_whole);
    if (tree->fate == DOCKER_TREE_WAS_LOST && !tree->killed)
        docker_tree_explain_loss(tree);
    if (tree->fate == DOCKER_TREE_NEVER_BEGAN && !*tree->end.failure)
        docker_tree_quote(tree);
    if (docker_tree_lacked_tools(tree) && !*tree->end.failure)
        snprintf(tree->end.failure, sizeof tree->end.failure, "%s",
                 "the socket by which the script calls tools did not come into its container");
    ev_clear_pending(docker_tree_loop(tree), &tree->complete);
    ev_timer_stop(docker_tree_loop(tree), &tree->drain);
    docker_tree_set_state(tree, DOCKER_TREE_NONE);
    tree->owner->ended(tree->owner);
}

static void docker_tree_on_complete(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct docker_tree *tree = CONTAINER_OF(watcher, struct docker_tree, complete);

    (void)loop;
    (void)events;
    exec_cancel(&tree->exec); /* its owner may keep the tree until the container has ended */
    docker_tree_finish(tree, &(struct container_end){.started = true}, true);
}

/* The engine does not say how its run ends. */
static void docker_tree_give_up_run(struct docker_tree *tree)
{
    exec_cancel(&tree->exec);
    direct_streams_read_rest(&tree->streams);
    docker_tree_finish(tree, &(struct container_end){.started = true}, false);
}

/* It has not answered. The end of its own container will show that nothing has run. */
static void docker_tree_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct docker_tree *tree = CONTAINER_OF(timer, struct docker_tree, patience);

    (void)loop;
    (void)events;
    if (container_id(&tree->container))
        container_kill(&tree->container);
    else
        docker_tree_give_up_run(tree);
}

static void docker_tree_on_drained(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    docker_tree_give_up_run(CONTAINER_OF(timer, struct docker_tree, drain));
}

void docker_tree_drain(struct docker_tree *tree)
{
    ev_now_update(docker_tree_loop(tree));
    ev_timer_start(docker_tree_loop(tree), &tree->drain);
}

static void docker_tree_on_rest(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    docker_tree_free(CONTAINER_OF(timer, struct docker_tree, rest));
}

static void docker_tree_give_up(struct engine_duty *duty)
{
    docker_tree_free(CONTAINER_OF(duty, struct docker_tree, duty));
}

void docker_tree_leave(struct docker_tree *tree)
{
    if (!container_id(&tree->container)) {
        docker_tree_free(tree);
        return;
    }
    docker_tree_set_state(tree, DOCKER_TREE_LEAVING);
    engine_add_duty(tree->site->engine, &tree->duty);
    ev_now_update(docker_tree_loop(tree));
    ev_timer_start(docker_tree_loop(tree), &tree->rest);
}

struct process_end docker_tree_conclude(struct docker_tree *tree, double since, const char *python)
{
    const struct docker_observation seen = {
        .killed = tree->killed,
        .out_of_memory = tree->end.out_of_memory,
        .missing = tree->site->missing,
        .exit_code = tree->end.exit_code,
        .seconds = clock_seconds() - since,
        .failure = tree->end.failure,
    };

    return docker_end(&seen, docker_output_end(&tree->output), python);
}

/* NAME is taken. */
static void docker_tree_begin(struct docker_tree *tree, char *name)
{
    tree->name = name;
    tree->started_at = clock_seconds();
    docker_tree_set_state(tree, DOCKER_TREE_STARTING);
}

/* ---- its container ---- */

static void docker_tree_on_container_output(struct container *container, enum frame_stream stream,
                                            const char *data, size_t length)
{
    struct docker_tree *tree = CONTAINER_OF(container, struct docker_tree, container);

    if (direct_streams_are_plain(&tree->streams))
        docker_tree_print(tree, stream, data, length);
    else
        docker_tree_hear(tree, stream, data, length);
    docker_tree_settle(tree);
}

static void docker_tree_on_container_started(struct container *container)
{
    docker_tree_on_ready(CONTAINER_OF(container, struct docker_tree, container));
}

static void docker_tree_on_container_ended(struct container *container,
                                           const struct container_end *end)
{
    struct docker_tree *tree = CONTAINER_OF(container, struct docker_tree, container);

    if (tree->state == DOCKER_TREE_LEAVING) {
        docker_tree_free(tree);
        return;
    }
    direct_streams_read_rest(&tree->streams);
    docker_tree_finish(tree, end, !*end->failure && !end->is_cut);
}

int docker_tree_start(struct docker_tree *tree, const struct docker_order *order,
                      struct docker_order_container own, struct error *err)
{
    AUTO_JSON json_t *definition = NULL;

    tree->awaits = own.idle_seconds > 0;
    tree->streams.is_plain = order->stays;
    docker_order_offer_streams(order, own.code_file, &tree->streams);
    own.streams = direct_streams_path(&tree->streams);
    own.needs_tools = !tree->awaits && docker_tree_needs_tools(tree);
    definition = docker_order_describe(order, &own, err);
    if (!definition)
        return -1;
    docker_tree_begin(tree, docker_site_name(tree->site));
    container_start(&tree->container, tree->site->engine,
                    &(struct container_plan){
                        .name = tree->name,
                        .definition = definition,
                        .start_timeout = tree->site->definition.container_startup_timeout,
                        .is_told = true,
                        .keep = order->stays,
                    });
    return 0;
}

/* ---- its run in a kept container ---- */

static void docker_tree_on_exec_output(struct exec *exec, enum frame_stream stream,
                                       const char *data, size_t length)
{
    struct docker_tree *tree = CONTAINER_OF(exec, struct docker_tree, exec);

    docker_tree_hear(tree, stream, data, length);
    docker_tree_settle(tree);
}

static void docker_tree_on_exec_agreed(struct exec *exec)
{
    docker_tree_on_ready(CONTAINER_OF(exec, struct docker_tree, exec));
}

/* An engine that does not know the run any more has handed over all its output before. */
static void docker_tree_on_exec_ended(struct exec *exec, const struct container_end *end)
{
    struct docker_tree *tree = CONTAINER_OF(exec, struct docker_tree, exec);

    direct_streams_read_rest(&tree->streams);
    docker_tree_finish(tree, end, !*end->failure || end->status == DOCKER_NOT_FOUND);
}

void docker_tree_offer_streams(struct docker_tree *tree, const char *folder)
{
    AUTO_FREE char *path = memory_format("%s" DOCKER_STREAMS_NAME, folder);
    struct error err = ERROR_INIT;

    if (direct_streams_offer(&tree->streams, path, &err) < 0)
        log_debug("no direct streams: %s", err.message);
}

void docker_tree_execute(struct docker_tree *tree, const char *container, const json_t *definition,
                         bool awaits)
{
    tree->awaits = awaits;
    tree->output.is_mute = awaits;
    docker_tree_begin(tree, memory_copy_string(container));
    exec_start(&tree->exec, tree->site->engine,
               &(struct exec_plan){
                   .container = container,
                   .definition = definition,
                   .start_timeout = tree->site->definition.container_startup_timeout,
               });
}

/* ---- its owner ---- */

void docker_tree_interrupt(struct docker_tree *tree)
{
    if (tree->state == DOCKER_TREE_RUNNING)
        container_interrupt(&tree->container);
}

void docker_tree_kill(struct docker_tree *tree)
{
    tree->killed = true;
    container_kill(&tree->container);
}

void docker_tree_give(struct docker_tree *tree, struct docker_tree_owner *owner,
                      struct execution_listener *listener)
{
    tree->owner = owner;
    tree->output.listener = listener;
    tree->killed = false; /* by its new owner */
}

struct docker_tree *docker_tree_new(struct docker_site *site, struct docker_tree_owner *owner,
                                    struct execution_listener *listener)
{
    struct docker_tree *tree = NEW(struct docker_tree);

    tree->site = site;
    tree->owner = owner;
    tree->container = (struct container){.output = docker_tree_on_container_output,
                                         .started = docker_tree_on_container_started,
                                         .ended = docker_tree_on_container_ended};
    tree->exec = (struct exec){.output = docker_tree_on_exec_output,
                               .agreed = docker_tree_on_exec_agreed,
                               .ended = docker_tree_on_exec_ended};
    tree->streams.output = docker_tree_on_printed;
    tree->streams.said = docker_tree_on_said;
    docker_output_init(&tree->output, listener);
    direct_streams_init(&tree->streams, docker_tree_loop(tree));
    buffer_init(&tree->unsent, DOCKER_TREE_UNSENT);
    ev_init(&tree->complete, docker_tree_on_complete);
    ev_timer_init(&tree->rest, docker_tree_on_rest, DOCKER_TREE_REST_SECONDS, 0.);
    ev_timer_init(&tree->patience, docker_tree_on_patience,
                  site->definition.container_startup_timeout, 0.);
    ev_timer_init(&tree->drain, docker_tree_on_drained, DOCKER_TREE_DRAIN_SECONDS, 0.);
    list_init(&tree->duty.link);
    tree->duty.give_up = docker_tree_give_up;
    return tree;
}

void docker_tree_free(struct docker_tree *tree)
{
    if (!tree)
        return;
    list_remove(&tree->duty.link);
    ev_timer_stop(docker_tree_loop(tree), &tree->rest);
    ev_timer_stop(docker_tree_loop(tree), &tree->patience);
    ev_timer_stop(docker_tree_loop(tree), &tree->drain);
    ev_clear_pending(docker_tree_loop(tree), &tree->complete);
    container_cancel(&tree->container);
    exec_cancel(&tree->exec);
    direct_streams_end(&tree->streams);
    buffer_deinit(&tree->unsent);
    free(tree->name);
    free(tree);
}
