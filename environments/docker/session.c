#include "environments/docker/session.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/docker/end.h"
#include "environments/docker/order.h"
#include "environments/docker/output.h"
#include "environments/docker/site.h"
#include "environments/engine/container.h"
#include "environments/engine/init_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DOCKER_SESSION_LIFE_SECONDS (7. * 86400) /* even if cells keep coming */

enum { DOCKER_SESSION_READ_BYTES = 32 << 10 }; /* in one frame: at most INIT_PIECE_BYTES */

enum docker_session_state {
    DOCKER_SESSION_STARTING, /* waits for its container to run */
    DOCKER_SESSION_RESTING,  /* waits for a cell */
    DOCKER_SESSION_WORKING,  /* waits for the end of a cell */
};

struct docker_session {
    struct execution execution;
    enum docker_session_state state;
    struct docker_site *site;   /* borrowed */
    struct docker_order *order; /* owned */
    struct container container;
    struct docker_output output;
    int channel; /* owned: a copy of the request's input, from which the cells come */
    ev_io reading;
    char *name; /* owned */
    bool killed;
    struct process_usage usage; /* of the cells that have ended */
    double started_at;          /* monotonic seconds */
};

static const struct state docker_session_states[] = {
    [DOCKER_SESSION_STARTING] = {"starting", 1 << DOCKER_SESSION_RESTING},
    [DOCKER_SESSION_RESTING] = {"resting", 1 << DOCKER_SESSION_WORKING},
    [DOCKER_SESSION_WORKING] = {"working", 1 << DOCKER_SESSION_RESTING},
};

static struct ev_loop *docker_session_loop(const struct docker_session *session)
{
    return engine_loop(session->site->engine);
}

static void docker_session_set_state(struct docker_session *session,
                                     enum docker_session_state state)
{
    state_change(docker_session_states, session->state, state, "session in container %s",
                 session->name);
    session->state = state;
}

static void docker_session_free(struct docker_session *session)
{
    ev_io_stop(docker_session_loop(session), &session->reading);
    if (session->channel >= 0)
        close(session->channel);
    container_cancel(&session->container);
    docker_order_free(session->order);
    free(session->name);
    free(session);
}

/* Cells */

/* A container that takes no more input is killed. */
static void docker_session_send(struct docker_session *session, const char *frame, size_t length)
{
    struct error err = ERROR_INIT;

    if (container_send(&session->container, frame, length, &err) == 0)
        return;
    log_debug("session in container %s: %s", session->name, err.message);
    session->execution.kill(&session->execution);
}

/* The next cell is not sent before the last one has been answered, so the first bytes in state
 * RESTING begin a cell. */
static void docker_session_on_cells(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct docker_session *session = CONTAINER_OF(watcher, struct docker_session, reading);
    char frame[WIRE_HEAD_BYTES + DOCKER_SESSION_READ_BYTES];
    ssize_t count = events & EV_ERROR ? 0
                                      : recv(session->channel, frame + WIRE_HEAD_BYTES,
                                             DOCKER_SESSION_READ_BYTES, MSG_DONTWAIT);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0) {
        ev_io_stop(loop, watcher); /* the process that has closed it ends the session, too */
        return;
    }
    if (session->state == DOCKER_SESSION_RESTING)
        docker_session_set_state(session, DOCKER_SESSION_WORKING);
    wire_put_head(frame, INIT_CELLS, (size_t)count);
    docker_session_send(session, frame, WIRE_HEAD_BYTES + (size_t)count);
}

static void docker_session_on_cell_ended(struct docker_output *output,
                                         const struct last_words *words)
{
    struct docker_session *session = CONTAINER_OF(output, struct docker_session, output);
    const unsigned char status = (unsigned char)WEXITSTATUS(words->status);

    if (session->state != DOCKER_SESSION_WORKING)
        return;
    session->usage.cpu_seconds += words->cpu_seconds;
    session->usage.peak_memory = words->peak_bytes;
    docker_session_set_state(session, DOCKER_SESSION_RESTING);
    (void)send(session->channel, &status, 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* it has room */
}

static void docker_session_on_output(struct container *container, enum frame_stream stream,
                                     const char *data, size_t length)
{
    struct docker_session *session = CONTAINER_OF(container, struct docker_session, container);

    docker_output_feed(&session->output, stream, data, length);
    if (session->output.has_words)
        container_dismiss(container);
}

/* The container */

static void docker_session_on_started(struct container *container)
{
    struct docker_session *session = CONTAINER_OF(container, struct docker_session, container);
    struct execution_listener *listener = session->execution.listener;

    docker_session_set_state(session, DOCKER_SESSION_RESTING);
    ev_io_start(docker_session_loop(session), &session->reading);
    session->execution.is_starting = false;
    listener->began(listener);
}

/* Passes on the last output of the session, then describes its end. */
static struct process_end docker_session_end(struct docker_session *session,
                                             const struct container_end *seen)
{
    const struct last_words *words = docker_output_end(&session->output);
    struct process_end end = docker_end(
        &(struct docker_observation){
            .killed = session->killed || seen->killed,
            .out_of_memory = seen->out_of_memory,
            .missing = session->site->missing,
            .exit_code = seen->exit_code,
            .seconds = clock_seconds() - session->started_at,
            .failure = seen->failure,
        },
        words, session->order->python);

    if (words && words->flags & LAST_WORDS_ASTRAY)
        snprintf(end.failure, sizeof end.failure, "%s",
                 "the session was ended: its code has closed or used a descriptor that is not its "
                 "own");
    return end;
}

static void docker_session_on_ended(struct container *container, const struct container_end *seen)
{
    struct docker_session *session = CONTAINER_OF(container, struct docker_session, container);
    struct execution_listener *listener = session->execution.listener;
    struct process_end end = docker_session_end(session, seen);

    if (seen->status == DOCKER_NOT_FOUND)
        session->site->is_stale = true;
    docker_session_free(session);
    listener->ended(listener, &end);
}

/* The init passes the interrupt on to the program. */
static void interrupt_session(struct execution *execution)
{
    container_interrupt(&CONTAINER_OF(execution, struct docker_session, execution)->container);
}

/* Nothing to do: the end of a cell is reported after all its output. */
static void drain_session(struct execution *execution)
{
    (void)execution;
}

static struct process_usage measure_session(struct execution *execution)
{
    return CONTAINER_OF(execution, struct docker_session, execution)->usage;
}

static void kill_session(struct execution *execution)
{
    struct docker_session *session = CONTAINER_OF(execution, struct docker_session, execution);

    session->killed = true;
    container_kill(&session->container);
}

static struct docker_session *docker_session_new(struct docker_order *order,
                                                 struct execution_listener *listener)
{
    struct docker_session *session = NEW(struct docker_session);

    session->execution = (struct execution){
        .listener = listener,
        .interrupt = interrupt_session,
        .drain = drain_session,
        .measure = measure_session,
        .kill = kill_session,
        .is_starting = true,
    };
    session->site = order->site;
    session->order = order;
    session->container.output = docker_session_on_output;
    session->container.started = docker_session_on_started;
    session->container.ended = docker_session_on_ended;
    session->channel = -1;
    ev_init(&session->reading, docker_session_on_cells);
    session->name = docker_site_name(order->site);
    session->started_at = clock_seconds();
    return session;
}

static int docker_session_start_container(struct docker_session *session, struct error *err)
{
    const struct docker_order_container own = {0};
    AUTO_JSON json_t *definition = docker_order_describe(session->order, &own, err);

    if (!definition)
        return -1;
    docker_output_init(&session->output, session->execution.listener);
    session->output.cell_ended = docker_session_on_cell_ended;
    container_start(&session->container, session->site->engine,
                    &(struct container_plan){
                        .name = session->name,
                        .definition = definition,
                        .start_timeout = session->site->definition.container_startup_timeout,
                        .is_told = true,
                    });
    return 0;
}

static int docker_session_take_input(struct docker_session *session, int input, struct error *err)
{
    session->channel = fcntl(input, F_DUPFD_CLOEXEC, 0);
    if (session->channel < 0)
        return error_set_errno(err, errno, "cannot copy the socket of the session");
    ev_io_set(&session->reading, session->channel, EV_READ);
    return 0;
}

struct execution *docker_session_start(struct docker_order *order,
                                       struct execution_listener *listener, struct error *err)
{
    struct docker_session *session = docker_session_new(order, listener);

    order->request.timeout = DOCKER_SESSION_LIFE_SECONDS;
    order->stays = false; /* a session is ended, and leaves nothing to be looked at */
    if (docker_session_take_input(session, order->request.input, err) == 0 &&
        docker_session_start_container(session, err) == 0)
        return &session->execution;
    docker_session_free(session);
    return NULL;
}
