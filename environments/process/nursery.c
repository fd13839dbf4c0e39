#include "environments/process/nursery.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sender.h"
#include "environments/process/host_private.h"
#include "environments/process/tree_private.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NURSERY_PATIENCE_SECONDS 30. /* with an import */
#define SUCCESSION_SECONDS       2.  /* until a stand-in is the zygote: usually milliseconds */
#define WORKER_SECONDS           2.  /* until a worker waits for its code: usually milliseconds */
#define WORKER_MOST_SECONDS      16. /* the same where all is slow */
#define WORKER_STARTS            16. /* the same, in starts of its zygote */

/* The first process, the zygote, its stand-in, and a copy that shows what scripts change. */
enum { NURSERY_PROCESSES = 4 };

struct nursery {
    bool has_had_worker; /* a worker has once waited for its code */
    nursery_note *note;
    pid_t pid;                 /* of the zygote */
    uid_t user;                /* of its programs */
    int orders;                /* owned: the socket to the zygote; -1: none */
    json_t *tried;             /* owned: the modules that it has been told to import, by name */
    char *module;              /* owned: the module that it is importing; NULL: none */
    double since;              /* CLOCK_MONOTONIC seconds: start of the import */
    double start_seconds;      /* that its zygote has taken: how slow the machine is */
    struct preloads *preloads; /* owned: the list that has `module`; NULL: none */
    ev_timer patience;         /* runs during an import, and during a succession */
    struct list workers;       /* of struct tree */
    ev_io orders_watcher;
    ev_io zygote_watcher;
};

static void nursery_close_orders(struct tree *tree)
{
    ev_timer_stop(host_loop(tree->host), &tree->nursery->patience);
    ev_io_stop(host_loop(tree->host), &tree->nursery->orders_watcher);
    if (tree->nursery->orders >= 0)
        close(STEAL_FD(tree->nursery->orders));
}

void nursery_retire(struct tree *tree)
{
    nursery_close_orders(tree); /* the zygote sees their end, and ends */
    if (list_is_empty(&tree->nursery->workers))
        tree_kill(tree);
}

/* A zygote that does not answer would not see the end of its orders. */
static void nursery_kill_zygote(const struct tree *tree)
{
    if (tree->zygote >= 0)
        (void)syscall(SYS_pidfd_send_signal, tree->zygote, SIGKILL, NULL, 0);
}

static void nursery_give_up(struct tree *tree, enum nursery_news news)
{
    tree->nursery->note(tree, news);
    nursery_kill_zygote(tree);
    nursery_retire(tree);
}

/* The zygote has ended the import of its module. */
static void nursery_end_module(struct tree *tree)
{
    struct nursery *nursery = tree->nursery;

    ev_timer_stop(host_loop(tree->host), &nursery->patience);
    free(STEAL_PTR(nursery->module));
    preloads_drop(STEAL_PTR(nursery->preloads));
}

/* A succession: the zygote ends, and its stand-in, which has not imported the module, becomes the
 * zygote if it can. Meanwhile it goes on making workers. */
static void nursery_begin_succession(struct tree *tree)
{
    ev_timer *patience = &tree->nursery->patience;

    nursery_kill_zygote(tree);
    ev_timer_set(patience, SUCCESSION_SECONDS, 0.);
    ev_timer_start(host_loop(tree->host), patience);
}

static bool nursery_has_succession(const struct nursery *nursery)
{
    return !nursery->module && ev_is_active(&nursery->patience);
}

/* The module has spoilt the zygote, and no zygote imports it any more. */
static void nursery_spoil(struct tree *tree, const char *why)
{
    preloads_refuse(tree->nursery->preloads, tree->nursery->module, why);
    nursery_end_module(tree);
    nursery_begin_succession(tree);
}

/* If the zygote has made workers, or was good until it imported a module, another may be had; else
 * the next would fail as well. */
static enum nursery_news nursery_prospect(const struct tree *tree)
{
    return tree->nursery->has_had_worker || nursery_has_succession(tree->nursery)
               ? NURSERY_OUT_OF_DATE
               : NURSERY_FAILED;
}

static void nursery_fail(struct tree *tree)
{
    if (tree->nursery->module)
        nursery_spoil(tree, "the import ends Python");
    else
        nursery_give_up(tree, nursery_prospect(tree));
}

static void nursery_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct tree *tree = timer->data;

    (void)loop;
    (void)events;
    if (tree->nursery->module)
        nursery_spoil(tree, "the import takes too long");
    else
        nursery_give_up(tree, NURSERY_OUT_OF_DATE);
}

static void nursery_on_loaded(struct tree *tree, const char *why)
{
    if (*why) {
        log_debug("tree %lu: no %s: %s", tree->number, tree->nursery->module, why);
        preloads_fail(tree->nursery->preloads, tree->nursery->module);
    }
    tree->end.ahead_seconds += clock_seconds() - tree->nursery->since;
    nursery_end_module(tree);
    host_look_for_orphans(tree->host); /* the stand-in has no other parent */
    tree->nursery->note(tree, NURSERY_WAITS);
}

/* False when our child PID, the zygote from now on, cannot be watched. */
static bool nursery_watch_zygote(struct tree *tree, pid_t pid)
{
    ev_io *watcher = &tree->nursery->zygote_watcher;

    tree->nursery->pid = pid;
    tree->zygote = spawn_open_child(pid);
    if (tree->zygote < 0)
        return false;
    ev_io_set(watcher, tree->zygote, EV_READ);
    ev_io_start(host_loop(tree->host), watcher);
    return true;
}

static void nursery_leave_zygote(struct tree *tree)
{
    ev_io_stop(host_loop(tree->host), &tree->nursery->zygote_watcher);
    if (tree->zygote >= 0)
        close(STEAL_FD(tree->zygote));
}

/* The stand-in PID is the zygote now. If the end of the former zygote has not been seen yet, only
 * the look for orphans reaps it. */
static void nursery_end_succession(struct tree *tree, pid_t pid)
{
    if (tree->nursery->module)
        nursery_spoil(tree, "the import ends Python");
    ev_timer_stop(host_loop(tree->host), &tree->nursery->patience);
    nursery_leave_zygote(tree);
    host_look_for_orphans(tree->host);
    if (nursery_watch_zygote(tree, pid))
        tree->nursery->note(tree, NURSERY_WAITS);
    else
        nursery_give_up(tree, NURSERY_OUT_OF_DATE);
}

static bool nursery_has_stand_in(const struct nursery *nursery)
{
    return nursery->module || nursery_has_succession(nursery);
}

static void nursery_on_answer(struct tree *tree, const char *answer, pid_t sender)
{
    if (*answer == ZYGOTE_WAITS && tree->state == TREE_STARTING) {
        tree_count_ahead(tree);
        tree->nursery->start_seconds = tree->end.ahead_seconds;
        tree_set_state(tree, TREE_WAITING);
        tree->nursery->note(tree, NURSERY_WAITS);
    } else if (*answer == ZYGOTE_SPOILT && tree->nursery->module) {
        nursery_spoil(tree, answer + 1);
    } else if (*answer == ZYGOTE_SPOILT && tree->state == TREE_STARTING) {
        log_debug("tree %lu: no zygote: its Python %s", tree->number, answer + 1);
        nursery_give_up(tree, NURSERY_FAILED);
    } else if (*answer == ZYGOTE_WAITS && nursery_has_stand_in(tree->nursery)) {
        nursery_end_succession(tree, sender);
    } else if (tree->nursery->module) {
        nursery_on_loaded(tree, answer + 1);
    }
}

/* Reads an answer of the zygote, or the end of its orders. False when there is neither. */
static bool nursery_read(struct tree *tree)
{
    char answer[1 + ZYGOTE_TEXT_BYTES + 1];
    pid_t sender = 0;
    ssize_t length = sender_receive(tree->nursery->orders, answer, sizeof answer - 1, 0, &sender);

    if (length > 0) {
        answer[length] = '\0';
        nursery_on_answer(tree, answer, sender);
    } else if (length == 0 || errno != EAGAIN) {
        nursery_fail(tree);
    } else {
        return false;
    }
    return true;
}

static void nursery_on_orders(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    if (events & EV_ERROR)
        nursery_fail(watcher->data);
    else
        (void)nursery_read(watcher->data);
}

/* The first module of PRELOADS that the zygote has not tried; or NULL. */
static const char *nursery_find_module(const struct nursery *nursery,
                                       const struct preloads *preloads)
{
    const json_t *name;
    size_t i;

    if (!preloads)
        return NULL;
    json_array_foreach (preloads->names, i, name) {
        const char *text = json_string_value(name);

        if (strlen(text) < ZYGOTE_TEXT_BYTES && !json_object_get(nursery->tried, text) &&
            !json_object_get(preloads->refused, text))
            return text;
    }
    return NULL;
}

bool nursery_load(struct tree *tree, struct preloads *preloads)
{
    struct nursery *nursery = tree->nursery;
    const char *name;

    if (nursery_has_stand_in(nursery))
        return false;
    name = nursery_find_module(nursery, preloads);
    if (!name)
        return true;
    json_object_set_new(nursery->tried, name, json_true());
    nursery->module = memory_copy_string(name);
    nursery->since = clock_seconds();
    nursery->preloads = preloads_hold(preloads);
    ev_timer_set(&nursery->patience, NURSERY_PATIENCE_SECONDS, 0.);
    ev_timer_start(host_loop(tree->host), &nursery->patience);
    if (send(nursery->orders, name, strlen(name), MSG_NOSIGNAL) < 0)
        nursery_give_up(tree, NURSERY_FAILED);
    return false;
}

uint64_t nursery_measure(const struct tree *tree)
{
    unsigned long resident = 0;
    unsigned long shared = 0;
    char place[32];
    FILE *file;

    snprintf(place, sizeof place, "/proc/%d/statm", (int)tree->nursery->pid);
    file = tree->zygote >= 0 ? fopen(place, "re") : NULL; /* not reaped: the pid is its own */
    if (!file)
        return 0;
    if (fscanf(file, "%*u %lu %lu", &resident, &shared) != 2 || shared > resident)
        resident = shared = 0;
    fclose(file);
    return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Its last answer may not have been read. Its stand-in has the same socket, so there may be no end
 * of its orders. */
static void nursery_on_zygote(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct tree *tree = watcher->data;
    siginfo_t ignored;

    (void)loop;
    if (events & EV_ERROR)
        tree_lose_sight(tree);
    if (!tree_reap(tree->zygote, &ignored))
        return;
    nursery_leave_zygote(tree);
    if (tree->state < TREE_EMPTYING && !nursery_read(tree) &&
        !nursery_has_succession(tree->nursery))
        nursery_fail(tree);
    tree_advance(tree);
}

static void nursery_on_zygote_known(struct tree *tree, pid_t pid)
{
    if (!nursery_watch_zygote(tree, pid))
        tree_lose_sight(tree);
}

/* Frees the nursery. Each of its workers goes on to its own end. */
static void nursery_leave(struct tree *tree)
{
    LIST_FOR_EACH_SAFE (&tree->nursery->workers, link) {
        struct tree *worker = CONTAINER_OF(link, struct tree, sibling);

        list_remove(&worker->sibling);
        worker->parent = NULL;
    }
    nursery_close_orders(tree);
    nursery_end_module(tree);
    json_decref(tree->nursery->tried);
    nursery_leave_zygote(tree);
    free(tree->nursery);
}

static void nursery_on_ready(struct tree *tree);

static const struct tree_role nursery_role = {
    .layers = LAYER_NURSERY,
    .ready = nursery_on_ready,
    .zygote = nursery_on_zygote_known,
    .failed = nursery_fail,
    .leave = nursery_leave,
};

static void nursery_watch(struct tree *tree)
{
    struct nursery *nursery = tree->nursery;

    ev_init(&nursery->orders_watcher, nursery_on_orders);
    ev_init(&nursery->zygote_watcher, nursery_on_zygote);
    ev_init(&nursery->patience, nursery_on_patience);
    nursery->orders_watcher.data = tree;
    nursery->patience.data = tree;
    nursery->zygote_watcher.data = tree;
    for (int i = 0; i < PROCESS_STREAMS; i++)
        ev_io_start(host_loop(tree->host), &tree->stream_watchers[i]);
}

/* The zygote's copies do not count for the limit of its workers, which have leaves of their own. */
static int nursery_limit(struct tree *tree, const struct process_limits *limits, struct error *err)
{
    if (tree_limit(tree, limits, err) < 0)
        return -1;
    if (!tree->leaf)
        return 0;
    return cgroup_leaf_limit(tree->leaf, limits->memory, limits->processes + NURSERY_PROCESSES,
                             err);
}

struct tree *nursery_new(struct process_host *host, const struct tree_plan *plan,
                         struct forecast *forecast, nursery_note *note, struct error *err)
{
    struct tree *tree = tree_make(host, plan);
    struct spawned spawned;

    tree->role = &nursery_role;
    if (tree_spawn(tree, plan->cgroups, &spawned, err) < 0) {
        tree_unmake(tree);
        return NULL;
    }
    tree->nursery = NEW(struct nursery);
    tree->nursery->note = note;
    tree->nursery->orders = -1;
    tree->nursery->tried = json_object();
    list_init(&tree->nursery->workers);
    tree_begin(tree, &spawned);
    nursery_watch(tree);
    tree->forecast = forecast_hold(forecast);
    if (nursery_limit(tree, &forecast->limits, err) < 0)
        tree_kill(tree);
    return tree;
}

/* Sends the job, with THEIRS, the zygote's end of its orders. True when it has been sent. */
static bool nursery_send_job(struct tree *tree, int theirs)
{
    const int descriptors[] = {theirs, host_core(tree->host)};
    struct error ignored = ERROR_INIT;
    struct buffer job;
    bool was_sent;

    buffer_init(&job, CONTROL_LIMIT_BYTES);
    was_sent = tree_make_ahead(tree, &job, &ignored) == 0 &&
               channel_send(&tree->channel, &job, descriptors, ARRAY_SIZE(descriptors));
    buffer_deinit(&job);
    return was_sent;
}

static void nursery_on_ready(struct tree *tree)
{
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int theirs = -1;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        tree_fail(tree, "cannot make a socket");
        return;
    }
    tree->nursery->orders = ends[0];
    tree->nursery->user = spawn_user_of(tree->streams[PROCESS_STDOUT]);
    theirs = ends[1];
    if (fd_set_nonblocking(ends[0], &ignored) < 0 || sender_ask(ends[0]) < 0 ||
        !nursery_send_job(tree, theirs)) {
        tree_fail(tree, "cannot reach the runner");
        return;
    }
    ev_io_set(&tree->nursery->orders_watcher, ends[0], EV_READ);
    ev_io_start(host_loop(tree->host), &tree->nursery->orders_watcher);
    tree_set_state(tree, TREE_STARTING);
}

/* The supervisor starts the worker at once. */
static void worker_on_ready(struct tree *tree)
{
    tree_set_state(tree, TREE_STARTING);
}

static void worker_on_zygote(struct tree *tree, pid_t pid)
{
    (void)tree;
    (void)pid;
}

static void worker_on_waiting(struct tree *tree)
{
    if (tree->parent)
        tree->parent->nursery->has_had_worker = true;
    tree->waiting.is_ready = true;
}

static void worker_on_failed(struct tree *tree)
{
    if (tree->parent)
        nursery_give_up(tree->parent, nursery_prospect(tree->parent));
}

/* If a supervisor has died before it could announce itself, only the look for orphans reaps it, and
 * its nursery cannot end before. */
static void worker_leave(struct tree *tree)
{
    struct tree *parent = tree->parent;

    if (!tree->supervisor_reaped)
        host_look_for_orphans(tree->host);
    list_remove(&tree->sibling);
    if (parent && parent->nursery->orders < 0 && list_is_empty(&parent->nursery->workers))
        tree_kill(parent);
}

/* Packages that the zygote has loaded can use the worker's channel before its supervisor does. */
static const struct tree_role worker_role = {
    .is_doubted = true,
    .ready = worker_on_ready,
    .zygote = worker_on_zygote,
    .waits = worker_on_waiting,
    .failed = worker_on_failed,
    .leave = worker_leave,
};

/* Orders a worker with ENDS in the leaf of TREE. */
static int worker_order(const struct tree *tree, const struct spawn_ends *ends, struct error *err)
{
    int descriptors[ZYGOTE_DESCRIPTORS] = {
        [ZYGOTE_ORDER_CONTROL] = ends->control,
        [ZYGOTE_ORDER_OUTPUT] = ends->streams[PROCESS_STDOUT],
        [ZYGOTE_ORDER_ERRORS] = ends->streams[PROCESS_STDERR],
    };
    const size_t cgroups = tree->leaf
                               ? cgroup_leaf_procs(tree->leaf, descriptors + ZYGOTE_ORDER_CGROUPS,
                                                   ZYGOTE_DESCRIPTORS - ZYGOTE_ORDER_CGROUPS)
                               : 0;

    if (descriptors_send(tree->parent->nursery->orders, "", 1, descriptors,
                         ZYGOTE_ORDER_CGROUPS + cgroups) != 1)
        return error_set_errno(err, errno, "cannot reach the zygote");
    return 0;
}

/* The kernel names the sender of each message from the worker. */
static int worker_start_in(const struct tree *tree, struct spawned *ret, struct error *err)
{
    struct spawn_ends ends;

    if (spawn_make_ends(ret, &ends, err) < 0)
        return -1;
    spawn_give_output(ret, tree->parent->nursery->user);
    if (sender_ask(ret->control) < 0)
        error_set_errno(err, errno, "SO_PASSCRED");
    else if (worker_order(tree, &ends, err) == 0) {
        spawn_close_theirs(&ends);
        return 0;
    }
    spawn_close(ret, &ends);
    return -1;
}

static int worker_limit(struct tree *tree, struct cgroup_tree *cgroups, struct error *err)
{
    if (cgroups) {
        tree->leaf = cgroup_leaf_new(cgroups, err);
        if (!tree->leaf)
            return -1;
    }
    return tree_limit(tree, &tree->parent->forecast->limits, err);
}

/* A slow machine is no reason to do without zygotes. */
static double worker_patience(const struct nursery *nursery)
{
    return fmax(WORKER_SECONDS, fmin(WORKER_MOST_SECONDS, WORKER_STARTS * nursery->start_seconds));
}

struct tree *nursery_make_worker(struct tree *parent, struct error *err)
{
    const struct tree_plan plan = {
        .wish = parent->wish,
        .layers = parent->layers,
        .cgroups = parent->leaf ? cgroup_leaf_tree(parent->leaf) : NULL,
    };
    struct tree *tree = tree_make(parent->host, &plan);
    struct spawned spawned;

    tree->role = &worker_role;
    tree->is_ahead = true;
    tree->end.ahead_seconds = parent->end.ahead_seconds;
    tree->parent = parent;
    if (worker_limit(tree, plan.cgroups, err) < 0 || worker_start_in(tree, &spawned, err) < 0) {
        tree_unmake(tree);
        return NULL;
    }
    list_append(&parent->nursery->workers, &tree->sibling);
    tree_begin(tree, &spawned);
    tree_bound_start(tree, worker_patience(parent->nursery));
    return tree;
}
