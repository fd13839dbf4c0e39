#include "environments/process/host.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/process/cpu_share.h"
#include "environments/process/host_private.h"
#include "environments/process/landlock.h"
#include "environments/process/machine.h"
#include "environments/process/spawn.h"
#include "environments/process/tree_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFILL_SECONDS  0.001 /* behind the start that took a spare */
#define TIDY_SECONDS    0.01  /* a cgroup is busy for about so long */
#define LEAF_SECONDS    5.0   /* a cgroup waits so long for the next tree */
#define ORPHANS_SECONDS 5.0
#define ORPHANS_HURRY   0.02
#define ORPHANS_TWICE   0.01 /* until a child of ours would have been reaped */
#define TRY_SECONDS     5.0  /* a machine so busy is assumed to have a sandbox */

enum {
    HOST_KINDS = 3,
    HOST_LATE_LAYERS = LAYER_UID | LAYER_FILES, /* known when a program has started */
};

/* A kind of tree: each one serves every program that asks for these layers. */
struct host_kind {
    struct process_host *host; /* borrowed */
    unsigned sandbox;          /* layers */
    struct expectation spare;
    json_t *expected; /* owned: what will be missing in the next tree, as far as is known */
};

struct process_host {
    struct process_host_settings settings;
    struct machine machine;
    struct host_kind kinds[HOST_KINDS];
    json_t *told; /* owned: every text of a missing feature so far */
    int runner;   /* owned: the executable */
    int core;     /* owned: the library of zygotes; -1: there is none */
    double cpus;
    struct list trees;          /* owned */
    unsigned long next_number;  /* of a tree */
    struct waiting_room spares; /* some of them */
    struct forecasts forecasts;
    bool stopping;
    pid_t lingering; /* a zombie that the last look for orphans has seen */
    ev_timer refill;
    ev_timer tidy;
    ev_timer orphans;
    ev_prepare finish;
};

/* Their layers: no sandbox, a sandbox, a sandbox with a network. */
static const unsigned host_kinds[HOST_KINDS] = {0, LAYERS_OF_SANDBOX,
                                                LAYERS_OF_SANDBOX & ~LAYER_NETWORK};

static struct host_kind *host_kind_of(struct process_host *host, const struct tree_wish *wish)
{
    for (size_t i = 0; i < HOST_KINDS - 1; i++)
        if (host->kinds[i].sandbox == wish->sandbox)
            return &host->kinds[i];
    return &host->kinds[HOST_KINDS - 1];
}

/* The next tree of this KIND will be without MISSING, too. Each text is told once. */
static void host_expect(struct process_host *host, struct host_kind *kind, const json_t *missing)
{
    const json_t *what;
    size_t i;

    json_decref(kind->expected);
    kind->expected = json_copy((json_t *)missing);
    json_array_foreach (kind->expected, i, what)
        if (process_receipt_add_missing(host->told, json_string_value(what)) &&
            host->settings.missing)
            host->settings.missing(host->settings.data, json_string_value(what));
}

static void host_expect_plan(struct process_host *host, struct host_kind *kind)
{
    const struct tree_wish wish = {.sandbox = kind->sandbox};
    const struct tree_plan plan = machine_plan(&host->machine, &wish);
    AUTO_JSON json_t *missing = machine_missing(&host->machine, &plan);

    host_expect(host, kind, missing);
}

static void host_expect_plans(struct process_host *host)
{
    for (size_t i = 0; i < HOST_KINDS; i++)
        if (host->kinds[i].expected)
            host_expect_plan(host, &host->kinds[i]);
}

void host_note_ready(struct process_host *host, const struct tree *tree)
{
    machine_note_had(&host->machine, tree->layers & ~(unsigned)HOST_LATE_LAYERS, tree->leaf);
    host_expect(host, host_kind_of(host, &tree->wish), tree->missing);
}

void host_note_started(struct process_host *host, const struct tree *tree)
{
    machine_note_had(&host->machine, tree->layers & HOST_LATE_LAYERS, false);
}

void host_expect_again(struct tree *tree)
{
    if (tree->forecast && !tree->host->stopping)
        forecast_expect(STEAL_PTR(tree->forecast));
}

static void host_tell_end(struct tree *tree)
{
    struct process *process = STEAL_PTR(tree->process);

    if (process) {
        process->tree = NULL;
        process->ended(process, &tree->end);
    }
    if (tree->started > 0)
        host_expect_again(tree);
}

/* Lets a finished tree report its end and frees it, outside of every callback of its own. */
static void host_on_finish(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct process_host *host = CONTAINER_OF(watcher, struct process_host, finish);

    (void)events;
    LIST_FOR_EACH_SAFE (&host->trees, link) {
        struct tree *tree = CONTAINER_OF(link, struct tree, link);

        if (tree->state >= TREE_LEAVING)
            host_tell_end(tree);
        if (tree->state != TREE_OVER)
            continue;
        list_remove(&tree->link);
        tree_free(tree);
        ev_timer_start(loop, &host->tidy);
    }
}

static struct waiting *host_make_spare(struct expectation *expectation)
{
    const struct host_kind *kind = CONTAINER_OF(expectation, struct host_kind, spare);
    struct process_host *host = kind->host;
    const struct tree_wish wish = {.sandbox = kind->sandbox};
    const struct tree_plan plan = machine_plan_of_spare(&host->machine, &wish);
    struct error ignored = ERROR_INIT; /* a call that needs a runner gets the error again */
    struct tree *tree;

    if (host->stopping || machine_falls_short(&host->machine, &plan))
        return NULL;
    tree = tree_new(host, &plan, &ignored);
    return tree ? &tree->waiting : NULL;
}

/* A spare waits as long as the host does, so there is no way to end one. */
static const struct waiting_rules host_spares = {.most = HOST_KINDS, .make = host_make_spare};

/* A kind that can have no spare now is tried again after the next start. */
static void host_on_refill(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct process_host *host = CONTAINER_OF(timer, struct process_host, refill);

    (void)events;
    ev_timer_stop(loop, timer);
    for (size_t i = 0; i < HOST_KINDS; i++)
        (void)waiting_room_restock(&host->spares, &host->kinds[i].spare, clock_seconds());
}

static void host_refill(struct process_host *host)
{
    ev_timer_again(host->settings.loop, &host->refill);
}

/* Spares are kept of the kinds that are used. */
static void host_init_kinds(struct process_host *host)
{
    for (size_t i = 0; i < HOST_KINDS; i++) {
        struct host_kind *kind = &host->kinds[i];

        kind->host = host;
        kind->sandbox = host_kinds[i];
        kind->spare.wanted = i == 0;
    }
    waiting_room_init(&host->spares, &host_spares);
    ev_timer_init(&host->refill, host_on_refill, 0., REFILL_SECONDS);
    host_refill(host);
}

static void host_on_tidy(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct process_host *host = CONTAINER_OF(timer, struct process_host, tidy);

    (void)events;
    if (cgroup_tree_finish(host->machine.cgroups))
        ev_timer_stop(loop, timer);
}

static void host_look_for_orphans_after(struct process_host *host, double seconds)
{
    host->orphans.repeat = seconds;
    ev_timer_again(host->settings.loop, &host->orphans);
}

/* The pid 1 of a nursery that ends waits until its stand-in is reaped. */
static bool host_is_ending_nursery(const struct process_host *host)
{
    LIST_FOR_EACH (&host->trees, link) {
        const struct tree *tree = CONTAINER_OF(link, struct tree, link);

        if (tree->nursery && tree->state >= TREE_EMPTYING)
            return true;
    }
    return false;
}

/* Reaps zombies that a dead supervisor left to us, their subreaper (rule L7). Children that we have
 * started are reaped by their pidfd at once, or are held, so another zombie that is seen twice is
 * an orphan. */
static void host_on_orphans(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct process_host *host = CONTAINER_OF(timer, struct process_host, orphans);
    siginfo_t information;

    (void)events;
    for (;;) {
        information.si_pid = 0;
        if (waitid(P_ALL, 0, &information, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            information.si_pid == 0)
            break;
        if (information.si_pid != host->lingering || spawn_is_held(information.si_pid)) {
            host_look_for_orphans_after(
                host, information.si_pid == host->lingering ? ORPHANS_HURRY : ORPHANS_TWICE);
            host->lingering = information.si_pid;
            return;
        }
        (void)waitpid(information.si_pid, NULL, WNOHANG);
    }
    host->lingering = 0;
    cgroup_leaf_retire(host->machine.cgroups, LEAF_SECONDS);
    ev_timer_start(loop, &host->tidy);
    host_look_for_orphans_after(host,
                                host_is_ending_nursery(host) ? ORPHANS_HURRY : ORPHANS_SECONDS);
}

void host_look_for_orphans(struct process_host *host)
{
    if (host->orphans.repeat > ORPHANS_HURRY) /* repeated questions put off nothing */
        host_look_for_orphans_after(host, ORPHANS_HURRY);
}

/* A script's limit is lower. The kernel counts descriptors on their way for each user, so a script
 * cannot use up our share. */
static void raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

bool host_is_stopping(const struct process_host *host)
{
    return host->stopping;
}

int host_core(const struct process_host *host)
{
    return host->core;
}

struct forecasts *host_forecasts(struct process_host *host)
{
    return &host->forecasts;
}

struct process_host *process_host_new(const struct process_host_settings *settings,
                                      struct error *err)
{
    struct process_host *host;
    int runner = spawn_open(settings->runner_path, err);

    if (runner < 0)
        return NULL;
    host = NEW(struct process_host);
    host->settings = *settings;
    host->runner = runner;
    host->core = spawn_open_library(settings->core_path);
    host->cpus = cpu_share();
    host->told = json_array();
    machine_init(&host->machine, &settings->policy);
    list_init(&host->trees);
    signal(SIGCHLD, SIG_DFL); /* if it was inherited as ignored, the kernel would reap */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    raise_open_files();
    ev_timer_init(&host->tidy, host_on_tidy, TIDY_SECONDS, TIDY_SECONDS);
    host->forecasts = (struct forecasts){.loop = settings->loop, .host = host, .ways = &host_ahead};
    forecasts_init(&host->forecasts);
    host_init_kinds(host);
    host_expect_plan(host, &host->kinds[0]);
    ev_timer_init(&host->orphans, host_on_orphans, ORPHANS_SECONDS, ORPHANS_SECONDS);
    ev_set_priority(&host->orphans, EV_MINPRI); /* ours that have ended are reaped before */
    ev_timer_start(settings->loop, &host->orphans);
    ev_prepare_init(&host->finish, host_on_finish);
    ev_prepare_start(settings->loop, &host->finish);
    return host;
}

void process_host_stop(struct process_host *host)
{
    host->stopping = true;
    cgroup_leaf_retire(host->machine.cgroups, 0);
    ev_timer_start(host->settings.loop, &host->tidy);
    LIST_FOR_EACH (&host->trees, link)
        tree_kill(CONTAINER_OF(link, struct tree, link));
}

bool process_host_is_idle(const struct process_host *host)
{
    return list_is_empty(&host->trees) && !ev_is_active(&host->tidy);
}

void process_host_free(struct process_host *host)
{
    if (!host)
        return;
    ev_timer_stop(host->settings.loop, &host->refill);
    forecasts_deinit(&host->forecasts);
    ev_timer_stop(host->settings.loop, &host->tidy);
    ev_timer_stop(host->settings.loop, &host->orphans);
    ev_prepare_stop(host->settings.loop, &host->finish);
    machine_deinit(&host->machine);
    for (size_t i = 0; i < HOST_KINDS; i++)
        json_decref(host->kinds[i].expected);
    json_decref(host->told);
    close(host->runner);
    if (host->core >= 0)
        close(host->core);
    free(host);
}

/* A process cannot leave its leaf only if cgroups are covered. */
enum process_origin process_host_origin(const struct process_host *host, uint64_t cgroup)
{
    enum process_origin origin = PROCESS_ORIGIN_OUTSIDE;

    LIST_FOR_EACH (&host->trees, link) {
        const struct tree *tree = CONTAINER_OF(link, struct tree, link);
        uint64_t id = tree->leaf ? cgroup_leaf_id(tree->leaf) : 0;

        if (id == cgroup)
            return PROCESS_ORIGIN_TREE;
        if (id == 0 || !(tree->layers & LAYER_PID_NAMESPACE))
            origin = PROCESS_ORIGIN_UNKNOWN;
    }
    return origin;
}

/* After the first look, `expected` of a KIND stays until the loop runs, because receipts borrow it.
 */
static void host_look_at(struct process_host *host, struct host_kind *kind)
{
    if (!kind->expected)
        host_expect_plan(host, kind);
}

/* From now on there are spares of KIND. */
static void host_use(struct process_host *host, struct host_kind *kind)
{
    kind->spare.wanted = 1;
    host_look_at(host, kind);
}

struct process_receipt process_host_receipt(struct process_host *host,
                                            const struct process_sandbox *sandbox)
{
    const struct tree_wish wish = tree_wish_of(sandbox);
    const struct tree_plan plan = machine_plan(&host->machine, &wish);
    struct host_kind *kind = host_kind_of(host, &wish);

    host_look_at(host, kind);
    return tree_plan_receipt(&plan, kind->expected);
}

/* The next refill makes a spare that tries again to get layers that the kernel has refused. */
bool process_host_has_sandbox(struct process_host *host, const struct process_sandbox *sandbox)
{
    const struct tree_wish wish = tree_wish_of(sandbox);
    const struct tree_plan plan = machine_plan(&host->machine, &wish);

    if (plan.layers & LAYERS_OF_FILES)
        return true;
    host_use(host, host_kind_of(host, &wish));
    host_refill(host);
    return false;
}

static void host_on_tried(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ONE);
}

/* True when a tree with WISH has been made, or cannot be made. */
static bool host_has_tried(const struct process_host *host, const struct tree_wish *wish)
{
    const struct tree_plan plan = machine_plan(&host->machine, wish);

    LIST_FOR_EACH (&host->trees, link) {
        const struct tree *tree = CONTAINER_OF(link, struct tree, link);

        if (tree->wish.sandbox == wish->sandbox && tree->state == TREE_READY)
            return true;
    }
    return machine_falls_short(&host->machine, &plan);
}

bool process_host_has_tried(const struct process_host *host)
{
    return host_has_tried(host, &(struct tree_wish){0});
}

void process_host_try_root(struct process_host *host)
{
    const struct tree_wish wish = tree_wish_of(&(struct process_sandbox){0});
    ev_timer bound;

    host_use(host, host_kind_of(host, &wish));
    host_refill(host);
    ev_timer_init(&bound, host_on_tried, TRY_SECONDS, 0.);
    ev_timer_start(host->settings.loop, &bound);
    while (ev_is_active(&bound) && !host_has_tried(host, &wish))
        ev_run(host->settings.loop, EVRUN_ONCE);
    ev_timer_stop(host->settings.loop, &bound);
}

/* The kernel tells whether it has Landlock; a root of its own has to be tried. */
void process_host_try_sandbox(struct process_host *host)
{
    if (!landlock_can_hold_files())
        process_host_try_root(host);
}

double process_host_cpus(const struct process_host *host)
{
    return host->cpus;
}

struct ev_loop *host_loop(const struct process_host *host)
{
    return host->settings.loop;
}

const struct machine *host_machine(const struct process_host *host)
{
    return &host->machine;
}

int host_runner(const struct process_host *host)
{
    return host->runner;
}

unsigned long host_add(struct process_host *host, struct tree *tree)
{
    list_append(&host->trees, &tree->link);
    return host->next_number++;
}

bool host_learn(struct process_host *host, const struct tree *tree, enum control_need need,
                int number, const char *text)
{
    struct tree_plan plan;

    if (!machine_note_refused(&host->machine, need, number, text))
        return tree->process && !tree->is_second;
    host_expect_plans(host);
    plan = machine_plan(&host->machine, &tree->wish);
    return !machine_falls_short(&host->machine, &plan);
}

void host_retry(struct process_host *host, struct tree *tree)
{
    const struct tree_plan plan = machine_plan(&host->machine, &tree->wish);
    struct error err = ERROR_INIT;
    struct tree *other;

    if (!tree->process) {
        host_refill(host);
        return;
    }
    other = tree_new(host, &plan, &err);
    if (!other)
        return;
    other->is_second = true;
    other->forecast = STEAL_PTR(tree->forecast);
    other->code = STEAL_FD(tree->code);
    other->input = STEAL_FD(tree->input);
    other->tools = STEAL_FD(tree->tools);
    other->has_input = tree->has_input;
    other->is_to_be_interrupted = tree->is_to_be_interrupted;
    other->outlet = STEAL_FD(tree->outlet);
    if (tree_run(other, tree->process, &tree->job, &tree->limits, &err) == 0)
        tree->process = NULL;
    else
        tree_kill(other);
}

bool host_refuses(const struct process_host *host, const struct tree_wish *wish, struct error *err)
{
    if (host->stopping)
        return error_set(err, ERROR_UNAVAILABLE, "the server is stopping") < 0;
    return machine_refuses(&host->machine, wish, err);
}

struct tree *host_take(struct process_host *host, const struct tree_wish *wish, struct error *err)
{
    const struct tree_plan plan = machine_plan(&host->machine, wish);
    struct host_kind *kind = host_kind_of(host, wish);
    struct waiting *spare;
    struct tree *tree;

    if (host_refuses(host, wish, err))
        return NULL;
    host_use(host, kind);
    spare = waiting_room_take(&host->spares, &kind->spare, clock_seconds());
    host_refill(host);
    if (!spare)
        return tree_new(host, &plan, err);
    tree = CONTAINER_OF(spare, struct tree, waiting);
    if (machine_wish_lacks(wish, tree->layers)) { /* made when the machine had less */
        tree_kill(tree);
        return tree_new(host, &plan, err);
    }
    tree->wish = *wish;
    return tree;
}
