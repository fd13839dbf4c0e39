#include "environments/process/tree_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/state.h"
#include "environments/process/host_private.h"

#include <assert.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLL_SECONDS 0.002
#define SOFT_SECONDS 0.1 /* for the supervisor to kill its tree, before the kernel does */

enum { LAST_READS = 64 }; /* more than a supervisor sends; a copy's channel can be flooded */

static const struct state tree_states[] = {
    [TREE_PREPARING] = {"preparing", 1 << TREE_READY | 1 << TREE_STARTING | 1 << TREE_RUNNING |
                                         1 << TREE_EMPTYING},
    [TREE_READY] = {"ready", 1 << TREE_STARTING | 1 << TREE_RUNNING | 1 << TREE_EMPTYING},
    [TREE_RUNNING] = {"running", 1 << TREE_EMPTYING},
    [TREE_STARTING] = {"starting", 1 << TREE_WAITING | 1 << TREE_EMPTYING},
    [TREE_WAITING] = {"waiting", 1 << TREE_RUNNING | 1 << TREE_EMPTYING},
    [TREE_EMPTYING] = {"emptying", 1 << TREE_FORCING | 1 << TREE_DRAINING},
    [TREE_FORCING] = {"forcing", 1 << TREE_DRAINING},
    [TREE_DRAINING] = {"draining", 1 << TREE_LEAVING},
    [TREE_LEAVING] = {"leaving", 1 << TREE_OVER},
    [TREE_OVER] = {"over", 0},
};

static void tree_set_bound(struct tree *tree, double seconds)
{
    ev_timer_stop(host_loop(tree->host), &tree->bound);
    ev_timer_set(&tree->bound, seconds, 0.);
    ev_timer_start(host_loop(tree->host), &tree->bound);
}

void tree_bound_start(struct tree *tree, double seconds)
{
    tree_set_bound(tree, seconds);
}

void tree_set_state(struct tree *tree, enum tree_state state)
{
    state_change(tree_states, tree->state, state, "tree %lu", tree->number);
    tree->state = state;
    switch (state) {
    case TREE_PREPARING:
    case TREE_READY:
    case TREE_STARTING:
    case TREE_RUNNING:
        break;
    case TREE_WAITING:
        ev_timer_stop(host_loop(tree->host), &tree->bound);
        break;
    case TREE_EMPTYING:
        waiting_withdraw(&tree->waiting);
        tree_set_bound(tree, SOFT_SECONDS);
        break;
    case TREE_FORCING:
        tree_set_bound(tree, PROCESS_EMPTY_SECONDS - SOFT_SECONDS);
        break;
    case TREE_DRAINING:
        tree_set_bound(tree, PROCESS_DRAIN_SECONDS);
        break;
    case TREE_LEAVING:
        tree_set_bound(tree, PROCESS_EMPTY_SECONDS);
        break;
    case TREE_OVER:
        ev_timer_stop(host_loop(tree->host), &tree->bound);
        ev_timer_stop(host_loop(tree->host), &tree->polling);
        break;
    }
}

/* The supervisor of a PID namespace is in the cgroup, too, and would be killed before it could
 * report the usage of the tree. */
static bool is_ended_by_cgroup(const struct tree *tree)
{
    return tree->leaf && tree->layers & LAYER_CGROUP_KILL && !(tree->layers & LAYER_PID_NAMESPACE);
}

/* Tells the supervisor, by the end of its lifeline, to kill all processes: it waits for each, so
 * that the whole usage of the tree is counted. */
static void kill_everything(struct tree *tree)
{
    channel_end(&tree->channel);
    if (is_ended_by_cgroup(tree))
        cgroup_leaf_kill(tree->leaf);
}

/* The kernel kills a cgroup as a whole, and a PID namespace with its pid 1. If the runner has not
 * announced its supervisor yet, it must live to do so, or nobody would wait for the supervisor. */
void tree_kill_hard(struct tree *tree)
{
    if (tree->supervisor < 0 && !tree->is_copy)
        return;
    if (tree->leaf)
        cgroup_leaf_kill(tree->leaf);
    if (tree->layers & LAYER_PID_NAMESPACE)
        syscall(SYS_pidfd_send_signal, tree->supervisor, SIGKILL, NULL, 0);
}

/* The tree was started ahead and its process has not begun: another tree may run the process. */
static bool tree_was_in_vain(const struct tree *tree)
{
    return tree->is_ahead && tree->process && tree->started <= 0 && !tree->end.killed;
}

void tree_begin_end(struct tree *tree)
{
    if (tree->state >= TREE_EMPTYING)
        return;
    if (tree_was_in_vain(tree))
        host_retry(tree->host, tree);
    if (tree->role && tree->state < TREE_WAITING && !tree->end.killed)
        tree->role->failed(tree);
    if (tree->state >= TREE_EMPTYING) /* `failed` has killed it */
        return;
    if (tree->started > 0 && !tree->end.reported)
        tree->end.run_seconds = clock_seconds() - tree->started;
    tree_hold(tree, false);
    tree_set_state(tree, TREE_EMPTYING);
    kill_everything(tree);
    if (tree->nursery)
        host_look_for_orphans(tree->host);
}

void tree_kill(struct tree *tree)
{
    if (tree->state >= TREE_EMPTYING)
        return;
    tree->end.killed = true;
    tree_begin_end(tree);
}

/* A supervisor that exists was announced on the channel before the channel ended. */
static bool tree_is_gone(const struct tree *tree)
{
    if (tree->runner >= 0 || tree->supervisor >= 0 || tree->zygote >= 0)
        return false;
    if (!tree->supervisor_reaped && tree->channel.fd >= 0)
        return false;
    return !is_ended_by_cgroup(tree) || cgroup_leaf_is_empty(tree->leaf);
}

/* True when no process of its program is left. */
static bool tree_is_empty(const struct tree *tree)
{
    return tree->is_empty || tree_is_gone(tree);
}

static bool streams_are_closed(const struct tree *tree)
{
    return tree->streams[PROCESS_STDOUT] < 0 && tree->streams[PROCESS_STDERR] < 0;
}

static void note_memory(struct tree *tree)
{
    uint64_t peak;

    if (!tree->leaf)
        return;
    peak = cgroup_leaf_peak(tree->leaf);
    tree->end.out_of_memory |= cgroup_leaf_was_out_of_memory(tree->leaf);
    if (peak > 0)
        tree->end.peak_memory = peak;
}

/* Sets an error if no message has told how the program ended, or whether it began. */
static void note_silence(struct tree *tree)
{
    struct process_end *end = &tree->end;

    if (tree->started <= 0 && !end->reported && !end->killed && !end->out_of_memory &&
        !end->failure[0])
        snprintf(end->failure, sizeof end->failure, "%s",
                 tree->is_copy ? "the session has ended before it was copied"
                               : "the runner ended before the program started");
}

static bool is_being_emptied(const struct tree *tree)
{
    return tree->state == TREE_EMPTYING || tree->state == TREE_FORCING;
}

/* The supervisor's last messages may still be in the channel. They are read first, because after a
 * refusal another tree may run the process. */
static void tree_read_last_messages(struct tree *tree)
{
    for (int i = 0; i < LAST_READS; i++)
        if (!tree->supervisor_reaped || tree->state >= TREE_DRAINING || tree->channel.fd < 0 ||
            tree->end.reported || channel_read(&tree->channel) != CHANNEL_OPEN)
            return;
}

void tree_advance(struct tree *tree)
{
    tree_read_last_messages(tree);
    if (tree->state < TREE_EMPTYING && tree->supervisor_reaped)
        tree_begin_end(tree);
    if (is_being_emptied(tree)) {
        if (tree_is_empty(tree)) {
            note_memory(tree);
            note_silence(tree);
            tree_set_state(tree, TREE_DRAINING);
        } else if (tree->runner < 0 && tree->supervisor < 0 && !ev_is_active(&tree->polling)) {
            ev_timer_again(host_loop(tree->host), &tree->polling);
        }
    }
    if (tree->state == TREE_DRAINING && (!tree->process || streams_are_closed(tree)))
        tree_set_state(tree, TREE_LEAVING);
    if (tree->state == TREE_LEAVING && (tree_is_gone(tree) || tree->end.survivors))
        tree_set_state(tree, TREE_OVER);
}

static void tree_on_polling(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    tree_look(CONTAINER_OF(timer, struct tree, polling));
}

/* If a process cannot be killed, the tree ends all the same, so that the caller does not wait for
 * ever. A supervisor outside a PID namespace lives on and goes on killing. */
static void tree_give_up(struct tree *tree)
{
    tree->end.survivors = true;
    log_debug("tree %lu is not empty after %.0f s", tree->number, PROCESS_EMPTY_SECONDS);
    if (tree->supervisor >= 0 && tree->layers & LAYER_PID_NAMESPACE)
        syscall(SYS_pidfd_send_signal, tree->supervisor, SIGKILL, NULL, 0);
    if (tree->runner >= 0)
        syscall(SYS_pidfd_send_signal, tree->runner, SIGKILL, NULL, 0);
    note_memory(tree);
    note_silence(tree);
    tree_set_state(tree, TREE_DRAINING);
}

/* If the loop was held up, the timer can come before the news of an end that was in time. */
static void tree_look_and_give_up(struct tree *tree)
{
    tree_look(tree);
    if (tree->state == TREE_FORCING)
        tree_give_up(tree);
}

static void tree_on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct tree *tree = CONTAINER_OF(timer, struct tree, bound);

    (void)loop;
    (void)events;
    switch (tree->state) {
    case TREE_EMPTYING:
        tree_kill_hard(tree);
        tree_set_state(tree, TREE_FORCING);
        break;
    case TREE_FORCING:
        tree_look_and_give_up(tree);
        break;
    case TREE_DRAINING:
        tree_read_rest(tree); /* a busy loop may not have read it */
        tree_set_state(tree, TREE_LEAVING);
        tree_advance(tree);
        break;
    case TREE_LEAVING: /* orphans are reaped later (host.c) */
        tree_kill_hard(tree);
        tree_set_state(tree, TREE_OVER);
        break;
    case TREE_PREPARING:
    case TREE_STARTING:
        tree_fail(tree, "the program was not ready in time");
        tree_advance(tree);
        break;
    case TREE_READY:
    case TREE_WAITING:
    case TREE_RUNNING:
    case TREE_OVER:
        assert(!"a state without a bound");
    }
}

void tree_init_timers(struct tree *tree)
{
    ev_init(&tree->bound, tree_on_bound);
    ev_timer_init(&tree->polling, tree_on_polling, 0., POLL_SECONDS);
}
