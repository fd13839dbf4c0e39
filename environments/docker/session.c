#include "environments/docker/session.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/docker/site.h"
#include "environments/docker/tree.h"
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

struct docker_session {
    struct execution execution;
    struct docker_tree_owner owner;
    struct docker_order *order; /* owned */
    struct docker_tree *tree;   /* owned */
    int channel; /* owned: a copy of the request's input, from which the cells come */
    ev_io reading;
    bool works;                 /* on a cell */
    struct process_usage usage; /* of the cells that have ended */
    double started_at;          /* monotonic seconds */
};

static struct ev_loop *docker_session_loop(const struct docker_session *session)
{
    return engine_loop(session->order->site->engine);
}

static void docker_session_free(struct docker_session *session)
{
    ev_io_stop(docker_session_loop(session), &session->reading);
    if (session->channel >= 0)
        close(session->channel);
    docker_tree_free(session->tree);
    docker_order_free(session->order);
    free(session);
}

/* Cells */

/* A container that takes no more input is killed. */
static void docker_session_send(struct docker_session *session, const char *frame, size_t length)
{
    struct error err = ERROR_INIT;

    if (docker_tree_send(session->tree, frame, length, &err) == 0)
        return;
    log_debug("session in container %s: %s", session->tree->name, err.message);
    session->execution.kill(&session->execution);
}

/* The next cell is not sent before the last one has been answered, so the first bytes behind an
 * answer begin a cell. */
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
    session->works = true;
    wire_put_head(frame, INIT_CELLS, (size_t)count);
    docker_session_send(session, frame, WIRE_HEAD_BYTES + (size_t)count);
}

static void docker_session_on_cell_ended(struct docker_output *output,
                                         const struct last_words *words)
{
    const struct docker_tree *tree = CONTAINER_OF(output, const struct docker_tree, output);
    struct docker_session *session = CONTAINER_OF(tree->owner, struct docker_session, owner);
    const unsigned char status = (unsigned char)WEXITSTATUS(words->status);

    if (!session->works)
        return;
    session->works = false;
    session->usage.cpu_seconds += words->cpu_seconds;
    session->usage.peak_memory = words->peak_bytes;
    (void)send(session->channel, &status, 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* it has room */
}

/* The container */

static void docker_session_on_began(struct docker_tree_owner *owner)
{
    struct docker_session *session = CONTAINER_OF(owner, struct docker_session, owner);
    struct execution_listener *listener = session->execution.listener;

    ev_io_start(docker_session_loop(session), &session->reading);
    session->execution.is_starting = false;
    listener->began(listener);
}

static void docker_session_on_ended(struct docker_tree_owner *owner)
{
    struct docker_session *session = CONTAINER_OF(owner, struct docker_session, owner);
    struct execution_listener *listener = session->execution.listener;
    const struct docker_output *output = &session->tree->output;
    struct process_end end =
        docker_tree_conclude(session->tree, session->started_at, session->order->python);

    if (output->has_words && output->words.flags & LAST_WORDS_ASTRAY)
        snprintf(end.failure, sizeof end.failure, "%s",
                 "the session was ended: its code has closed or used a descriptor that is not its "
                 "own");
    if (session->tree->end.status == DOCKER_NOT_FOUND)
        session->order->site->is_stale = true;
    docker_session_free(session);
    listener->ended(listener, &end);
}

/* The init passes the interrupt on to the program. */
static void interrupt_session(struct execution *execution)
{
    docker_tree_interrupt(CONTAINER_OF(execution, struct docker_session, execution)->tree);
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
    docker_tree_kill(CONTAINER_OF(execution, struct docker_session, execution)->tree);
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
    session->order = order;
    session->owner.began = docker_session_on_began;
    session->owner.ended = docker_session_on_ended;
    session->tree = docker_tree_new(order->site, &session->owner, listener);
    session->tree->output.cell_ended = docker_session_on_cell_ended;
    session->channel = -1;
    ev_init(&session->reading, docker_session_on_cells);
    session->started_at = clock_seconds();
    return session;
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
    const struct docker_order_container own = {.code_file = order->request.code_file};
    struct docker_session *session = docker_session_new(order, listener);

    order->request.timeout = DOCKER_SESSION_LIFE_SECONDS;
    order->stays = false; /* a session is ended, and leaves nothing to be looked at */
    if (!order->request.kernel)
        docker_tree_give_tools(session->tree, order->request.tools);
    if (docker_session_take_input(session, order->request.input, err) == 0 &&
        docker_tree_start(session->tree, order, own, err) == 0)
        return &session->execution;
    docker_session_free(session);
    return NULL;
}
