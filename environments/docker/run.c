#include "environments/docker/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/docker/ahead_container.h"
#include "environments/docker/ahead_pool.h"
#include "environments/docker/direct_streams.h"
#include "environments/docker/docker_go.h"
#include "environments/docker/end.h"
#include "environments/docker/order.h"
#include "environments/docker/output.h"
#include "environments/docker/script_file.h"
#include "environments/docker/site.h"
#include "environments/engine/container.h"
#include "environments/engine/init_protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define DOCKER_RUN_REST_SECONDS 0.05 /* a client has read its answer by then */

enum docker_run_state {
    DOCKER_RUN_TAKING,   /* waits for a container that was taken to run */
    DOCKER_RUN_ASKING,   /* waits for the answer of its init */
    DOCKER_RUN_STARTING, /* waits for a container of its own to run */
    DOCKER_RUN_RUNNING,  /* waits for the end of its script */
    DOCKER_RUN_OVER,     /* has ended well; waits until its container is removed */
};

struct docker_run {
    struct execution execution;
    enum docker_run_state state;
    struct docker_site *site;      /* borrowed */
    struct docker_order *order;    /* owned */
    struct ahead_pool *pool;       /* borrowed; NULL: nothing is started ahead */
    struct ahead_container *ahead; /* owned: the container that was taken, or NULL */
    struct docker_go go;           /* for `ahead` */
    ev_timer patience;             /* for an answer of `ahead` */
    struct container container;
    struct direct_streams streams; /* of `ahead`, if it has direct ones */
    struct docker_output output;
    ev_prepare complete;     /* fed, never started: it has ended, as its last words say */
    ev_timer rest;           /* before its container is removed */
    struct engine_duty duty; /* lets the engine free an OVER run */
    char *name;              /* owned: of the container of its own */
    bool killed;
    double started_at; /* monotonic seconds */
};

static const struct state docker_run_states[] = {
    [DOCKER_RUN_TAKING] = {"taking", 1 << DOCKER_RUN_ASKING | 1 << DOCKER_RUN_STARTING},
    [DOCKER_RUN_ASKING] = {"asking", 1 << DOCKER_RUN_RUNNING | 1 << DOCKER_RUN_STARTING},
    [DOCKER_RUN_STARTING] = {"starting", 1 << DOCKER_RUN_RUNNING | 1 << DOCKER_RUN_OVER},
    [DOCKER_RUN_RUNNING] = {"running", 1 << DOCKER_RUN_OVER},
    [DOCKER_RUN_OVER] = {"over", 0},
};

static struct ev_loop *docker_run_loop(const struct docker_run *run)
{
    return engine_loop(run->site->engine);
}

static void docker_run_set_state(struct docker_run *run, enum docker_run_state state)
{
    struct execution_listener *listener = run->execution.listener;

    state_change(docker_run_states, run->state, state, "run in container %s",
                 run->ahead ? run->ahead->name : run->name);
    run->state = state;
    ev_timer_stop(docker_run_loop(run), &run->patience);
    if (state == DOCKER_RUN_ASKING)
        ev_timer_start(docker_run_loop(run), &run->patience);
    if (state == DOCKER_RUN_RUNNING)
        listener->began(listener);
    if (state == DOCKER_RUN_OVER) {
        engine_add_duty(run->site->engine, &run->duty);
        ev_now_update(docker_run_loop(run));
        ev_timer_start(docker_run_loop(run), &run->rest);
    }
}

static void docker_run_free(struct docker_run *run)
{
    list_remove(&run->duty.link);
    ev_timer_stop(docker_run_loop(run), &run->rest);
    ev_timer_stop(docker_run_loop(run), &run->patience);
    ev_clear_pending(docker_run_loop(run), &run->complete);
    container_cancel(&run->container);
    direct_streams_end(&run->streams);
    ahead_container_free(run->ahead);
    docker_order_free(run->order);
    docker_go_deinit(&run->go);
    free(run->name);
    free(run);
}

/* How the run has ended, for its listener. The next call is expected to be like it. */
static struct process_end docker_run_conclude(struct docker_run *run,
                                              const struct container_end *seen)
{
    const struct last_words *words = docker_output_end(&run->output);
    struct process_end end = docker_end(
        &(struct docker_observation){
            .killed = run->killed || seen->killed,
            .out_of_memory = seen->out_of_memory,
            .missing = run->site->missing,
            .exit_code = seen->exit_code,
            .seconds = clock_seconds() - run->started_at,
            .failure = seen->failure,
        },
        words, run->order->python);

    end.ahead_seconds = run->ahead ? run->ahead->seconds : 0.;
    if (words && run->pool)
        ahead_pool_expect(run->pool, STEAL_PTR(run->order));
    return end;
}

/* Ends a run that has not ended well. */
static void docker_run_finish(struct docker_run *run, const struct container_end *seen)
{
    struct execution_listener *listener = run->execution.listener;
    struct process_end end = docker_run_conclude(run, seen);

    docker_run_free(run);
    listener->ended(listener, &end);
}

/* True if the engine can add nothing to WORDS. It may know the reason of a kill. */
static bool are_enough(const struct last_words *words)
{
    return words->failure == 0 && words->flags == 0 && WIFEXITED(words->status);
}

/* Only the init is left alive in the container. Removing the container keeps many processes of the
 * engine busy, so it waits until the client has read the answer. */
static void docker_run_on_complete(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct docker_run *run = CONTAINER_OF(watcher, struct docker_run, complete);
    struct execution_listener *listener = run->execution.listener;
    struct process_end end = docker_run_conclude(run, &(struct container_end){.started = true});

    (void)loop;
    (void)events;
    docker_run_set_state(run, DOCKER_RUN_OVER);
    listener->ended(listener, &end);
}

static void docker_run_on_rest(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    docker_run_free(CONTAINER_OF(timer, struct docker_run, rest));
}

static void docker_run_give_up(struct engine_duty *duty)
{
    docker_run_free(CONTAINER_OF(duty, struct docker_run, duty));
}

static void docker_run_dismiss(struct docker_run *run)
{
    if (direct_streams_are_ready(&run->streams))
        direct_streams_tell(&run->streams, init_dismissal, WIRE_HEAD_BYTES);
    else
        container_dismiss(&run->container);
}

/* What the init has said may change the run. */
static void docker_run_look(struct docker_run *run)
{
    if (run->state == DOCKER_RUN_ASKING && run->output.has_begun)
        docker_run_set_state(run, DOCKER_RUN_RUNNING);
    if (run->order->stays || !run->output.has_words)
        return;
    if (are_enough(&run->output.words))
        ev_feed_event(docker_run_loop(run), &run->complete, EV_CUSTOM);
    else
        docker_run_dismiss(run);
}

static void docker_run_hear(struct docker_run *run, enum frame_stream stream, const char *data,
                            size_t length)
{
    if (run->state == DOCKER_RUN_OVER)
        return;
    docker_output_feed(&run->output, stream, data, length);
    docker_run_look(run);
}

static void docker_run_on_output(struct container *container, enum frame_stream stream,
                                 const char *data, size_t length)
{
    struct docker_run *run = CONTAINER_OF(container, struct docker_run, container);

    if (direct_streams_are_plain(&run->streams))
        docker_output_print(&run->output, stream, data, length);
    else
        docker_run_hear(run, stream, data, length);
    direct_streams_withdraw(&run->streams);
}

static void docker_run_on_said(struct direct_streams *streams, const char *data, size_t length)
{
    docker_run_hear(CONTAINER_OF(streams, struct docker_run, streams), FRAME_STDOUT, data, length);
}

static void docker_run_on_direct_output(struct direct_streams *streams, enum frame_stream stream,
                                        const char *data, size_t length)
{
    struct docker_run *run = CONTAINER_OF(streams, struct docker_run, streams);

    if (run->state != DOCKER_RUN_OVER)
        docker_output_print(&run->output, stream, data, length);
}

static void docker_run_ask(struct docker_run *run)
{
    docker_run_set_state(run, DOCKER_RUN_ASKING);
    if (direct_streams_are_ready(&run->streams))
        direct_streams_tell(&run->streams, run->go.bytes, run->go.length);
    else
        docker_go_tell_container(&run->go, &run->container);
}

static void docker_run_on_started(struct container *container)
{
    struct docker_run *run = CONTAINER_OF(container, struct docker_run, container);

    if (run->state == DOCKER_RUN_TAKING)
        docker_run_ask(run);
    else if (run->state == DOCKER_RUN_STARTING)
        docker_run_set_state(run, DOCKER_RUN_RUNNING);
}

/* Kills a container that has not answered. Its end will show that nothing has run. */
static void docker_run_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    container_kill(&CONTAINER_OF(timer, struct docker_run, patience)->container);
}

static int docker_run_start_container(struct docker_run *run, struct error *err)
{
    struct docker_order_container own = {.code_file = run->order->request.code_file};
    AUTO_JSON json_t *definition = NULL;

    docker_output_init(&run->output, run->execution.listener);
    run->streams.is_plain = run->order->stays;
    if (run->order->stays)
        docker_order_offer_streams(run->order, own.code_file, &run->streams);
    own.streams = direct_streams_path(&run->streams);
    definition = docker_order_describe(run->order, &own, err);
    if (!definition)
        return -1;
    container_start(&run->container, run->site->engine,
                    &(struct container_plan){
                        .name = run->name,
                        .definition = definition,
                        .start_timeout = run->site->definition.container_startup_timeout,
                        .is_told = true,
                        .keep = run->order->stays,
                    });
    return 0;
}

/* Moves the file of the container ahead, which has the code already, to the place of the run's
 * file. */
static int docker_run_take_code(struct docker_run *run, struct error *err)
{
    if (rename(run->ahead->code_file, run->order->request.code_file) < 0)
        return error_set_errno(err, errno, "cannot write the script");
    return 0;
}

/* The container that was taken has not begun: the run gets one of its own. */
static void docker_run_start_anew(struct docker_run *run)
{
    struct container_end none = {.started = false};
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    int has_code = docker_run_take_code(run, &err);

    log_debug("container ahead %s did not begin", run->ahead->name);
    docker_run_set_state(run, DOCKER_RUN_STARTING);
    ahead_pool_close(run->pool);
    docker_go_deinit(&run->go);
    direct_streams_end(&run->streams);
    ahead_container_free(STEAL_PTR(run->ahead));
    if (has_code == 0 && docker_run_start_container(run, &err) == 0)
        return;
    snprintf(none.failure, sizeof none.failure, "%s", err.message);
    docker_run_finish(run, &none);
}

/* True if nothing has run in the container that was taken: it was not told to begin, or says so, or
 * its output is complete and has no answer. */
static bool docker_run_begins_anew(const struct docker_run *run, const struct container_end *seen)
{
    if (run->killed || run->state >= DOCKER_RUN_STARTING)
        return false;
    return run->state == DOCKER_RUN_TAKING || run->output.has_not_begun ||
           (!*seen->failure && !seen->is_cut);
}

/* The container was told to begin, and may have begun: the script is not started a second time. */
static void docker_run_lose(struct docker_run *run, const struct container_end *seen)
{
    struct container_end end = *seen;

    snprintf(
        end.failure, sizeof end.failure,
        "the connection to the container was lost when the script was to begin, so it may have "
        "run or not: %.200s",
        *seen->failure ? seen->failure : "its output has not ended");
    docker_run_finish(run, &end);
}

static void docker_run_on_ended(struct container *container, const struct container_end *seen)
{
    struct docker_run *run = CONTAINER_OF(container, struct docker_run, container);

    if (run->state == DOCKER_RUN_OVER) {
        docker_run_free(run);
        return;
    }
    direct_streams_read_rest(&run->streams);
    if (docker_run_begins_anew(run, seen)) {
        docker_run_start_anew(run);
        return;
    }
    if (run->state == DOCKER_RUN_ASKING && !run->killed) {
        docker_run_lose(run, seen);
        return;
    }
    if (run->order->stays && seen->started) {
        log_info("container %s stays for a day, to be looked at", run->name);
        run->site->stayed(run->site);
    }
    if (seen->status == DOCKER_NOT_FOUND)
        run->site->is_stale = true;
    docker_run_finish(run, seen);
}

static void interrupt_run(struct execution *execution)
{
    struct docker_run *run = CONTAINER_OF(execution, struct docker_run, execution);

    if (run->state == DOCKER_RUN_RUNNING)
        container_interrupt(&run->container);
}

static void kill_run(struct execution *execution)
{
    struct docker_run *run = CONTAINER_OF(execution, struct docker_run, execution);

    run->killed = true;
    container_kill(&run->container);
}

static struct docker_run *docker_run_new(struct docker_order *order,
                                         struct execution_listener *listener)
{
    struct docker_run *run = NEW(struct docker_run);

    run->execution = (struct execution){
        .listener = listener, .interrupt = interrupt_run, .kill = kill_run, .is_starting = true};
    run->site = order->site;
    run->order = order;
    run->container.output = docker_run_on_output;
    run->container.started = docker_run_on_started;
    run->container.ended = docker_run_on_ended;
    run->streams.output = docker_run_on_direct_output;
    run->streams.said = docker_run_on_said;
    direct_streams_init(&run->streams, engine_loop(order->site->engine));
    list_init(&run->duty.link);
    run->duty.give_up = docker_run_give_up;
    ev_init(&run->complete, docker_run_on_complete);
    ev_timer_init(&run->rest, docker_run_on_rest, DOCKER_RUN_REST_SECONDS, 0.);
    ev_timer_init(&run->patience, docker_run_on_patience,
                  order->site->definition.container_startup_timeout, 0.);
    run->name = docker_site_name(order->site);
    run->started_at = clock_seconds();
    return run;
}

/* Starts RUN, the run of REQUEST, in a container of its own. */
static struct execution *
docker_run_begin(struct docker_run *run, const struct execution_request *request, struct error *err)
{
    AUTO_CLOSE int file =
        docker_script_file_new(request->code_file, request->code, request->code_length,
                               docker_order_reader(run->order), err);

    run->state = DOCKER_RUN_STARTING;
    if (file >= 0 && docker_run_start_container(run, err) == 0)
        return &run->execution;
    docker_run_free(run);
    return NULL;
}

struct execution *docker_run_start(struct docker_order *order,
                                   const struct execution_request *request,
                                   struct execution_listener *listener, struct error *err)
{
    return docker_run_begin(docker_run_new(order, listener), request, err);
}

/* Moves the container TAKEN into RUN. False: it cannot be used, and has been removed. */
static bool docker_run_take(struct docker_run *run, struct ahead_container *taken,
                            const struct execution_request *request)
{
    const struct ahead_container_places places = {
        .container = &run->container,
        .streams = &run->streams,
        .output = &run->output,
        .go = &run->go,
    };
    struct error ignored = ERROR_INIT;
    bool runs;

    docker_output_init(&run->output, run->execution.listener);
    if (ahead_container_take(taken, request->code, request->code_length, &places, &runs, &ignored) <
        0) {
        ahead_container_free(taken);
        return false;
    }
    run->ahead = taken;
    run->state = DOCKER_RUN_TAKING;
    if (runs)
        docker_run_ask(run);
    return true;
}

struct execution *docker_run_start_ahead(struct ahead_pool *pool, struct docker_order *order,
                                         const struct execution_request *request,
                                         struct execution_listener *listener, struct error *err)
{
    struct docker_run *run = docker_run_new(order, listener);
    struct ahead_container *taken = ahead_pool_take(pool, order);

    run->pool = pool;
    if (taken && docker_run_take(run, taken, request))
        return &run->execution;
    return docker_run_begin(run, request, err);
}
